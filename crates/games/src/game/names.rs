//! Enums whose variants have names. Each name is written once, beside its variant.

/// Declares an enum of named values. The names are what JSON, records, letters and the command line use.
///
/// Generates `ALL`, `NAMES`, `as_str`, `parse` (ignoring case), `Display`, `Serialize` and `Deserialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The names of [`Self::ALL`].
            pub const NAMES: &'static [&'static str] = &[$($text),+];

            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// Returns the variant of this name, ignoring case.
            pub fn parse(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|variant| text.eq_ignore_ascii_case(variant.as_str()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::internal::serde::Serialize for $name {
            fn serialize<S: $crate::internal::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::internal::serde::Deserialize<'de> for $name {
            /// Accepts only the exact name, because that is what the program serializes.
            fn deserialize<D: $crate::internal::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as $crate::internal::serde::Deserialize>::deserialize(deserializer)?;
                let found = Self::ALL.iter().copied().find(|variant| variant.as_str() == text);
                found.ok_or_else(|| $crate::internal::serde::de::Error::unknown_variant(&text, Self::NAMES))
            }
        }
    };
}

pub use named_enum;
