use super::*;
use crate::game::Game;

fn rng(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut x = seed * 2_654_435_761 + 88_172_645_463_325_252;
    move |n| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 33) as u32 % n
    }
}

#[test]
fn dump() {
    for (seed, steps) in [(1, 1), (1, 40), (2, 90), (4, 4000)] {
        let mut rng = rng(seed);
        let mut state = Pacific::start(&Options { quiet_limit: 20, ..Options::default() });
        for _ in 0..steps {
            state = advance(&state, &mut rng);
        }
        let board = Pacific::board(&Pacific::view(&state, Seat::First));
        println!("{}", board.text);
        let mut options = resvg::usvg::Options::default();
        options.font_family = "DejaVu Sans".into();
        options
            .fontdb_mut()
            .load_font_data(std::fs::read("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").expect("font"));
        let tree = resvg::usvg::Tree::from_str(&board.svg, &options).expect("svg");
        let mut map = resvg::tiny_skia::Pixmap::new(700, 786).expect("map");
        resvg::render(&tree, Default::default(), &mut map.as_mut());
        map.save_png(format!("/tmp/wp-{seed}-{steps}.png")).expect("png");
    }
}
