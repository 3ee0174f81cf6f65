//! The Merkle tree over the heads of all chains, as RFC 9162 (section 2.1) defines it for SHA-256.
//!
//! A leaf is blinded by a salt of its own. Without it a player could test whether the opponent has written: they know the
//! head that their own last letter told, and a small club has few others.

use ring::hmac;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::ledger::{self, Head};
use crate::letter::Digest;

/// The prefixes of leaves and of inner nodes, so that neither can be taken for the other.
const LEAF: [u8; 1] = [0];
const NODE: [u8; 1] = [1];

/// A leaf: where a chain ended. Its canonical JSON (RFC 8785) is what is hashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// The match, or the book.
    pub chain: String,
    pub head: Digest,
    pub seq: u64,
    /// 32 hexadecimal digits.
    pub salt: String,
}

impl Leaf {
    /// The leaf of a chain in a tree that `secret` blinds. A secret is used for one tree alone.
    pub fn new(chain: &str, head: Head, secret: &[u8; 32]) -> Leaf {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let tag = hmac::sign(&key, chain.as_bytes());
        let salt = tag.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Leaf { chain: chain.to_owned(), head: head.hash, seq: head.seq, salt }
    }

    pub fn hash(&self) -> Digest {
        hash_of(LEAF, &[ledger::canonical(self).as_bytes()])
    }
}

/// The way from a leaf to the root: enough to compute the root from the leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// The place of the leaf, from 0.
    pub index: u64,
    /// The number of leaves.
    pub size: u64,
    /// The hash beside each node on the way, from the leaf upwards.
    pub beside: Vec<Digest>,
}

impl Path {
    /// Returns the root that follows from this leaf (RFC 9162, section 2.1.3.2), or `None` if the path has not the length
    /// that a tree of this size has.
    pub fn root(&self, leaf: Digest) -> Option<Digest> {
        let (mut node, mut last) = (self.index, self.size.checked_sub(1)?);
        if node > last {
            return None;
        }
        let mut hash = leaf;
        for beside in &self.beside {
            if last == 0 {
                return None;
            }
            if node & 1 == 1 || node == last {
                hash = node_of(*beside, hash);
                // A node without a sibling goes up unchanged.
                while node & 1 == 0 && node != 0 {
                    (node, last) = (node >> 1, last >> 1);
                }
            } else {
                hash = node_of(hash, *beside);
            }
            (node, last) = (node >> 1, last >> 1);
        }
        (last == 0).then_some(hash)
    }
}

/// Returns the root of the tree over these hashes of leaves. Without leaves it is the SHA-256 of nothing.
pub fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(left_size(leaves.len()));
            node_of(root(left), root(right))
        }
    }
}

/// Returns the path of the leaf at `index`, or `None` if there is no such leaf.
pub fn path(leaves: &[Digest], index: usize) -> Option<Path> {
    if index >= leaves.len() {
        return None;
    }
    let (mut rest, mut place, mut beside) = (leaves, index, Vec::new());
    while rest.len() > 1 {
        let (left, right) = rest.split_at(left_size(rest.len()));
        if place < left.len() {
            beside.push(root(right));
            rest = left;
        } else {
            beside.push(root(left));
            place -= left.len();
            rest = right;
        }
    }
    beside.reverse();
    Some(Path { index: index as u64, size: leaves.len() as u64, beside })
}

/// The largest power of two that is smaller than `size`, which is at least 2.
fn left_size(size: usize) -> usize {
    1 << (usize::BITS - 1 - (size - 1).leading_zeros())
}

fn node_of(left: Digest, right: Digest) -> Digest {
    hash_of(NODE, &[left.as_bytes(), right.as_bytes()])
}

fn hash_of(prefix: [u8; 1], parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new_with_prefix(prefix);
    parts.iter().for_each(|part| hasher.update(part));
    Digest::from(<[u8; 32]>::from(hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leaves of the test vectors of Certificate Transparency (`merkletree/merkle_tree_test.cc`).
    const INPUTS: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];

    /// The roots over the first one, two, … of them.
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    fn leaves(count: usize) -> Vec<Digest> {
        (0..count).map(|number| hash_of(LEAF, &[&number.to_be_bytes()])).collect()
    }

    #[test]
    fn roots_are_those_of_certificate_transparency() {
        let leaves: Vec<Digest> = INPUTS.iter().map(|input| hash_of(LEAF, &[input])).collect();
        for (count, expected) in (1..).zip(ROOTS) {
            assert_eq!(root(&leaves[..count]).to_string(), expected, "{count} leaves");
        }
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(root(&[]).to_string(), nothing);
    }

    #[test]
    fn every_path_leads_to_the_root_and_no_other_leaf_does() {
        for count in 1..40 {
            let leaves = leaves(count);
            let top = root(&leaves);
            for (index, leaf) in leaves.iter().enumerate() {
                let path = path(&leaves, index).unwrap();
                assert_eq!(path.root(*leaf), Some(top), "leaf {index} of {count}");
                assert_ne!(path.root(Digest::of(b"another")), Some(top));
                let shorter = Path { beside: path.beside.iter().skip(1).copied().collect(), ..path.clone() };
                assert!(count == 1 || shorter.root(*leaf) != Some(top));
                let longer = Path { beside: [&path.beside[..], &[top]].concat(), ..path.clone() };
                assert_eq!(longer.root(*leaf), None);
                assert_eq!(Path { index: path.size, ..path }.root(*leaf), None);
            }
            assert_eq!(path(&leaves, count), None);
        }
    }

    #[test]
    fn a_leaf_cannot_be_guessed_from_its_head() {
        let head = Head { seq: 3, hash: Digest::of(b"head") };
        let leaf = Leaf::new("QD-7K3M", head, &[1; 32]);
        assert_ne!(leaf.hash(), Leaf::new("QD-7K3M", head, &[2; 32]).hash());
        assert_ne!(leaf.salt, Leaf::new("QD-7K3N", head, &[1; 32]).salt);
        assert_eq!(leaf.salt.len(), 32);
    }
}
