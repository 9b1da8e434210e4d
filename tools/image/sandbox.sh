#!/bin/sh
# A pruned folder run as a container runs it: its own root that cannot be written to, /app, writable /data /policies /cuda-cache /tmp, another
# account without capabilities, process 1. The network is the machine's. As root, in new mount and process namespaces:
#   unshare --mount --pid --fork --kill-child sandbox.sh ROOT APP DATA POLICIES MODELS UID GID NODE FILE [ARGUMENT…]
set -eu
root=$1 app=$2 data=$3 policies=$4 models=$5 uid=$6 gid=$7 node=$8
shift 8

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
for folder in usr bin sbin lib lib64 etc; do
  if [ -L "/$folder" ]; then
    cp -P "/$folder" "$root/$folder"
  elif [ -d "/$folder" ]; then
    mkdir "$root/$folder"
    mount --bind "/$folder" "$root/$folder"
    mount -o remount,bind,ro "$root/$folder"
  fi
done
mkdir "$root/app" "$root/models" "$root/data" "$root/policies" "$root/cuda-cache" "$root/tmp" "$root/proc" "$root/dev"
mount --bind "$app" "$root/app"
mount -o remount,bind,ro "$root/app"
if [ "$models" != - ]; then
  mount --bind "$models" "$root/models"
  mount -o remount,bind,ro "$root/models"
fi
mount --bind "$data" "$root/data"
mount --bind "$policies" "$root/policies"
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/tmp"
mount -t tmpfs -o mode=700,size=64m,uid="$uid",gid="$gid" tmpfs "$root/cuda-cache"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
# The binary may lie outside of what is mounted.
touch "$root/node"
mount --bind "$node" "$root/node"
mount -o remount,bind,ro "$root/node"
mount -o remount,ro "$root"
exec chroot "$root" /usr/bin/setpriv --reuid="$uid" --regid="$gid" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  /usr/bin/env -C /app /node "$@"
