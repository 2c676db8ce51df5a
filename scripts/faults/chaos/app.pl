#!/usr/bin/perl
# An app of the chaos run. It detects by locks whether it runs twice, numbers its lines on both
# streams, and records its start and how it will end.
#
# CHAOS_DIR  folder of its records         CHAOS_SLOTS  how many copies may live at once (1)
# MODE       what it does:  stay, exit:CODE, signal:NAME, job, fork, stray, deaf, ready, writes
# AFTER      seconds until it does so      PACE         seconds between lines (0.05)
use strict;
use warnings;
use Time::HiRes ();
use Fcntl qw(:flock O_WRONLY O_CREAT O_APPEND);

my ($dir, $name, $run) = @ENV{qw(CHAOS_DIR PROCSUP_NAME PROCSUP_RUN_ID)};
my ($mode, $word) = split /:/, $ENV{MODE} // 'stay';
my $after = $ENV{AFTER} // 1;
my $pace = $ENV{PACE} // 0.05;
$after *= 0.5 + rand if $mode ne 'stay';

sub put { # appends a whole line, even if others write too
  my ($file, $line) = @_;
  sysopen my $out, "$dir/$file", O_WRONLY | O_CREAT | O_APPEND or die "$file: $!";
  syswrite $out, "$line\n";
}

# Several lives of a name may overlap. Each takes a slot by a lock, which it holds until its end.
my $lock;
for my $slot (1 .. $ENV{CHAOS_SLOTS} // 1) {
  open $lock, '>>', "$dir/locks/$name.$slot" or die $!;
  last if flock $lock, LOCK_EX | LOCK_NB;
  undef $lock;
}
put('doubles', time . " $name pid $$ run $run") unless $lock;
sub life { put("life/$name", join " ", @_, int(Time::HiRes::time() * 1000)) }
life("start $run $$");

sub leave { my ($how) = @_; life("exit $run $how"); }
sub quit { my ($code) = @_; leave("code $code"); exit $code; }
my $asked = 0;
$SIG{TERM} = $mode eq 'deaf' ? sub { life("deaf $run") } : sub { $asked = 1 };
$SIG{USR1} = sub { put('signals', "$name USR1") };
$SIG{HUP} = sub { put('signals', "$name HUP") };

if ($mode eq 'fork' || $mode eq 'stray') {
  my $pid = fork;
  if ($pid == 0) {
    # A member of the group keeps the lock, so a run that starts beside it is a double.
    if ($mode eq 'stray') { close $lock if $lock; require POSIX; POSIX::setsid(); }
    $SIG{TERM} = $word ? 'IGNORE' : 'DEFAULT';
    select undef, undef, undef, 1 while 1;
  }
}
if ($mode eq 'ready') {
  select undef, undef, undef, 0.2 * (1 + rand);
  open my $ready, '>>', $ENV{PROCSUP_READY_FILE} or die "ready: $!";
  print $ready "READY=1\n";
}

my $n = 0;
my $left = $after;
sysopen my $count, "$dir/counts/$name.$run", O_WRONLY | O_CREAT or die $!;
while (1) {
  $n++;
  syswrite STDOUT, "$name $run o $n\n";
  syswrite STDERR, "$name $run e $n\n";
  sysseek $count, 0, 0;
  syswrite $count, "$n\n";
  select undef, undef, undef, $pace;
  quit(17) if $asked;
  if ($mode eq 'writes') { open my $out, '>', 'out' or die $!; print $out $n }
  next if $mode =~ /^(stay|deaf|ready|writes)$/;
  next if ($left -= $pace) > 0;
  quit($word) if $mode eq 'exit';
  quit(0) if $mode eq 'job';
  quit(9) if $mode eq 'fork' || $mode eq 'stray';
  leave("signal $word");
  $SIG{TERM} = 'DEFAULT';
  kill $word, $$;
  sleep 1;
}
