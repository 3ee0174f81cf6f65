//! Mixes plans when both sides choose at once, by regret matching (Hart and Mas-Colell 2000) in integers.

use crate::game::Dice;

/// Rounds of self-play over the table.
const ROUNDS: usize = 400;

/// Draws a row. `payoffs[row][column]` is the gain of the side that chooses the row, and the loss of the
/// other. There is at least one row and one column.
pub(in crate::house) fn draw(payoffs: &[Vec<i32>], dice: &mut Dice) -> usize {
    let rows = payoffs.len();
    let columns = payoffs[0].len();
    let mut row_regrets = vec![0_i64; rows];
    let mut column_regrets = vec![0_i64; columns];
    let mut played = vec![0_i64; rows];
    for _ in 0..ROUNDS {
        let row_weights = weights(&row_regrets);
        let column_weights = weights(&column_regrets);
        // The payoff of each row and column against the other side's mixture, in thousandths.
        let of_row = |row: usize| -> i64 {
            (0..columns).map(|column| i64::from(payoffs[row][column]) * column_weights[column]).sum()
        };
        let of_column = |column: usize| -> i64 {
            (0..rows).map(|row| i64::from(-payoffs[row][column]) * row_weights[row]).sum()
        };
        add_regrets(&mut row_regrets, &row_weights, of_row);
        add_regrets(&mut column_regrets, &column_weights, of_column);
        for (played, weight) in played.iter_mut().zip(row_weights) {
            *played += weight;
        }
    }
    let total: i64 = played.iter().sum();
    let mut left = dice.below(total as usize) as i64;
    for (row, weight) in played.iter().enumerate() {
        left -= weight;
        if left < 0 {
            return row;
        }
    }
    unreachable!("the draw is below the total")
}

/// Returns the mixture in which each choice has its share of positive regrets, in thousandths rounded down.
fn weights(regrets: &[i64]) -> Vec<i64> {
    let sum: i64 = regrets.iter().map(|regret| (*regret).max(0)).sum();
    if sum == 0 {
        return vec![1000 / regrets.len() as i64; regrets.len()];
    }
    regrets.iter().map(|regret| (*regret).max(0) * 1000 / sum).collect()
}

fn add_regrets(regrets: &mut [i64], weights: &[i64], worth: impl Fn(usize) -> i64) {
    let each: Vec<i64> = (0..regrets.len()).map(worth).collect();
    let all: i64 = weights.iter().sum();
    let mean = each.iter().zip(weights).map(|(worth, weight)| worth * weight).sum::<i64>() / all;
    for (regret, worth) in regrets.iter_mut().zip(each) {
        *regret += worth - mean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(payoffs: &[Vec<i32>]) -> Vec<usize> {
        let mut dice = Dice::new(1);
        let mut counts = vec![0; payoffs.len()];
        (0..300).for_each(|_| counts[draw(payoffs, &mut dice)] += 1);
        counts
    }

    #[test]
    fn rock_paper_and_scissors_are_played_equally_often() {
        let counts = shares(&[vec![0, -10, 10], vec![10, 0, -10], vec![-10, 10, 0]]);
        assert!(counts.iter().all(|count| (60..140).contains(count)), "{counts:?}");
    }

    #[test]
    fn an_uneven_mixture_is_drawn_in_its_proportions() {
        // The first row should be drawn two times in five.
        let counts = shares(&[vec![2, -1], vec![-1, 1]]);
        assert!((105..135).contains(&counts[0]), "{counts:?}");
        // Here, four times in five.
        let counts = shares(&[vec![1, -1], vec![-4, 4]]);
        assert!((225..255).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn a_row_that_is_worse_everywhere_is_hardly_played() {
        let counts = shares(&[vec![5, 7], vec![-5, -7]]);
        assert!(counts[0] > 290, "{counts:?}");
    }

    #[test]
    fn the_best_row_is_played_in_a_lost_and_in_a_won_position() {
        for all in [-16_000, 0, 16_000] {
            let rows = [90, 60, 30, 0, 0, 0, 0].map(|more| vec![all + more; 7]);
            let counts = shares(&rows);
            assert!(counts[0] > 270, "{all}: {counts:?}");
        }
    }
}
