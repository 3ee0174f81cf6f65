# spam.pl FOLDER FILE...: prints the score of each letter, and the tests that it met, by SpamAssassin's local tests.
#
# SpamAssassin and its rules are below FOLDER, where its packages were unpacked.
use strict;
use warnings;
use Mail::SpamAssassin;

my $folder = shift;
my $judge = Mail::SpamAssassin->new({
    local_tests_only    => 1,
    dont_copy_prefs     => 1,
    rules_filename      => "$folder/usr/share/spamassassin",
    site_rules_filename => "$folder/etc/spamassassin",
    userprefs_filename  => "/dev/null",
});
$judge->init(1);
for my $file (@ARGV) {
    open my $handle, '<', $file or die "$file: $!";
    my $letter = $judge->parse([<$handle>], 1);
    my $verdict = $judge->check($letter);
    print join(' ', $file, $verdict->get_score, $verdict->get_names_of_tests_hit), "\n";
    $verdict->finish;
    $letter->finish;
}
