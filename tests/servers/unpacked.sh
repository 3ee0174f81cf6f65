# Runs servers from the packages that unpack.sh has unpacked to PROGRAMS. Sourced with `dir` set to the folder of a test.
# shellcheck shell=bash disable=SC2154

libraries=$PROGRAMS/usr/lib/x86_64-linux-gnu:$PROGRAMS/lib/x86_64-linux-gnu:$PROGRAMS/usr/lib
libraries=$libraries:$PROGRAMS/usr/lib/courier-authlib

# Who owns the mail: the owner of the folder, but no server delivers as root.
owner=$(stat -c %u "$dir")
if [ "$owner" = 0 ]; then owner=$(id -u mail); fi
group=$(id -g "$owner")

# The root folder of a server that looks for its settings and its users in /etc.
root=$dir/root

# Copies these programs, and the libraries that they need, to the root folder.
furnish() {
  local file from library
  mkdir -p "$root"/{dev,etc,mail,run,tmp,var}
  chmod 1777 "$root/tmp"
  chown "$owner:$group" "$root/mail"
  mknod -m 666 "$root/dev/null" c 1 3
  cp /etc/services "$root/etc"
  echo "127.0.0.1 localhost" >"$root/etc/hosts"
  for file; do
    from=$PROGRAMS$file
    [ -e "$from" ] || from=$file
    install -D "$from" "$root$file"
    for library in $(LD_LIBRARY_PATH=$libraries ldd "$from" | grep -o '/[^ ]*'); do
      [ -e "$root${library#"$PROGRAMS"}" ] || install -D "$library" "$root${library#"$PROGRAMS"}"
    done
  done
}

# Adds a user with this name, number, home and number of a group to the root folder.
user() {
  echo "$1:x:$2:${4:-$2}::$3:/bin/sh" >>"$root/etc/passwd"
  echo "$1:x:${4:-$2}:" >>"$root/etc/group"
}

# The processes in the root folder, of which some leave the group of those that started them.
inside() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/root")" != "$root" ] || echo "${process#/proc/}"
  done
}

# Runs a command until standard input ends, and kills all of its processes then.
until_input_ends() {
  exec 3<&0
  set -m # its processes get a group of their own
  "$@" </dev/null 3<&- &
  set +m
  local server=$!
  # Ctrl-C does not reach that group, so this must outlive it.
  { trap "" HUP INT TERM; cat <&3 >/dev/null; kill -KILL -- -$server; kill -KILL $(inside); } 2>/dev/null &
  wait $server || true
  rm -rf "$dir"/*/ # which may belong to root
}
