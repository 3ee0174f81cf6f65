pub mod dkim;
