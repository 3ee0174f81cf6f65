#!/usr/bin/env bash
# reply.sh PROGRAM DIR ADDRESS: lets a mail program reply to DIR/letter, for tests, and quote it in the program's way.
#
# The text of the reply is DIR/text. What the program hands to sendmail becomes DIR/sent, with the fields that a mail
# server would add.
set -eu
program=$1 dir=$2 address=$3
libraries=$PROGRAMS/usr/lib/x86_64-linux-gnu:$PROGRAMS/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$libraries HOME=$dir TERM=xterm MAILRC=/dev/null LC_ALL=C.UTF-8
export PATH=$PROGRAMS/usr/bin:$PATH
mkdir -p "$dir"/mail/{cur,new,tmp} "$dir/folder"
cp "$dir/letter" "$dir/mail/new/1.letter"
{ echo "From referee Thu Jan  1 00:00:00 2026"; cat "$dir/letter"; echo; } >"$dir/mbox"

# In place of sendmail.
cat >"$dir/sendmail" <<SENDMAIL
#!/bin/sh
cat >"$dir/handed-in"
header=\$(sed '/^\$/q' "$dir/handed-in")
{
  echo "\$header" | grep -qi '^From:' || echo "From: $address"
  echo "\$header" | grep -qi '^Message-ID:' || echo "Message-ID: <$program@players.test>"
  echo "\$header" | grep -qi '^Date:' || echo "Date: \$(date -R)"
  cat "$dir/handed-in"
} >"$dir/sending"
mv "$dir/sending" "$dir/sent"
SENDMAIL
# In place of an editor: the text goes above the quote.
cat >"$dir/editor" <<EDITOR
#!/bin/sh
cat "$dir/text" "\$1" >"$dir/edited"
cat "$dir/edited" >"\$1"
EDITOR
# In place of nmh's prompt and editor: the text goes below the header.
cat >"$dir/post-it" <<WHATNOW
#!/bin/sh
sed -e '0,/^-*\$/{/^-*\$/r $dir/text
}' "\$mhdraft" >"$dir/edited"
cat "$dir/edited" >"\$mhdraft"
/usr/lib/mh/post -mts sendmail/pipe -sendmail "$dir/sendmail" "\$mhdraft"
WHATNOW
chmod +x "$dir"/{sendmail,editor,post-it}

# Runs a command that expects a screen and types standard input, and ends it once it has sent the reply.
on_screen() {
  exec 4<&0
  timeout 60 script -qec "$1" /dev/null <&4 >"$dir/screen" 2>&1 &
  for _ in {1..600}; do
    [ ! -f "$dir/sent" ] || break
    sleep 0.05
  done
  kill $!
}

# Types a key again and again until the reply is sent, because programs discard what is typed at the wrong time.
type_until_sent() {
  for _ in {1..100}; do
    [ ! -f "$dir/sent" ] || break
    sleep 0.2
    printf '%b' "$1"
  done
}

case $program in
  alpine)
    cat >"$dir/pinerc" <<CONF
personal-name=Player
user-domain=club.example
customized-hdrs=From: $address
sendmail-path=$dir/sendmail
editor=$dir/editor
last-version-used=6.26
feature-list=enable-alternate-editor-cmd,enable-alternate-editor-implicitly,quit-without-confirm,send-without-confirm,
 include-header-in-reply,include-text-in-reply,reply-always-uses-reply-to,no-enable-sigdash,quell-folder-internal-msg
default-fcc=""
CONF
    # Leave the greeting, open the folder, reply, not to all.
    on_screen "alpine -p $dir/pinerc -f $dir/mbox -I 'e,i,r,n'" < <(type_until_sent '\030')
    ;;
  mailutils)
    on_screen "mail.mailutils --no-config -E 'set sendmail=$dir/sendmail dot' -f $dir/mbox" \
      < <(echo "reply 1"; cat "$dir/text"; type_until_sent '~m\n.\n')
    ;;
  mutt)
    cat >"$dir/muttrc" <<CONF
set from="$address" use_from sendmail="$dir/sendmail" editor="$dir/editor" folder="$dir/folder"
set fast_reply include quit wait_key=no move=no
unset record
push "<first-entry><reply><send-message>"
CONF
    on_screen "mutt -n -F $dir/muttrc -f $dir/mail" < <(type_until_sent '')
    ;;
  nmh)
    mkdir -p "$dir/Mail/inbox"
    cp "$dir/letter" "$dir/Mail/inbox/1"
    printf 'Path: %s\nLocal-Mailbox: %s\n' "$dir/Mail" "$address" >"$dir/profile"
    MH=$dir/profile LD_LIBRARY_PATH='' /usr/bin/mh/repl -filter mhl.reply -noedit -whatnowproc "$dir/post-it" +inbox 1
    ;;
  notmuch)
    printf '[database]\npath=%s\n[user]\nname=Player\nprimary_email=%s\n[new]\n[search]\n' "$dir/mail" "$address" \
      >"$dir/notmuch"
    export NOTMUCH_CONFIG=$dir/notmuch
    notmuch new --quiet
    notmuch reply '*' | sed -e "0,/^\$/{/^\$/r $dir/text
}" | "$dir/sendmail"
    ;;
  s-nail)
    { echo "reply 1"; cat "$dir/text"; printf '~.\nx\n'; } |
      LD_LIBRARY_PATH='' s-nail -n -# -S v15-compat -S "mta=$dir/sendmail" -S "from=$address" -S quote \
        -S "indentprefix=> " -S ttycharset=utf-8 -f "$dir/mail" >"$dir/screen"
    ;;
esac
[ -f "$dir/sent" ] || {
  cat "$dir/screen"
  exit 1
}
