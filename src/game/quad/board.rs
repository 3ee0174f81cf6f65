//! The board of Quad as text and as a picture.

use super::view::View;
use crate::game::Board;

pub(super) fn draw(_view: &View) -> Board {
    Board { text: String::new(), svg: String::new() }
}
