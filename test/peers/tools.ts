import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

/** Debian's package of each program that the suite runs. */
const PROGRAMS: Readonly<Record<string, string>> = {
  '/usr/sbin/knotd': 'knot',
  '/usr/sbin/named': 'bind9',
  '/usr/bin/swaks': 'swaks',
  '/usr/bin/curl': 'curl',
  '/usr/bin/xmllint': 'libxml2-utils',
  '/usr/bin/neomutt': 'neomutt',
  '/usr/bin/tmux': 'tmux',
  '/usr/bin/script': 'bsdutils',
  '/usr/bin/mbsync': 'isync',
  '/usr/bin/offlineimap': 'offlineimap3',
  '/usr/bin/fetchmail': 'fetchmail',
  '/usr/bin/getmail': 'getmail6',
  '/usr/bin/imapfilter': 'imapfilter',
  '/usr/bin/aerc': 'aerc',
  '/usr/bin/alpine': 'alpine',
  '/usr/bin/python3': 'python3',
  '/usr/sbin/opendkim-testmsg': 'opendkim-tools',
  '/usr/sbin/postfix': 'postfix',
  '/usr/bin/pebble': 'pebble',
  '/usr/bin/rspamd': 'rspamd',
  '/usr/sbin/clamd': 'clamav-daemon',
  '/usr/sbin/dovecot': 'dovecot-imapd',
  '/usr/lib/dovecot/imap': 'dovecot-imapd',
};

/** Modules they load, as lines for `python3 -c` and `perl -e`. */
const LIBRARIES: readonly (readonly [program: string, flag: string, line: string, apt: string])[] = [
  ['/usr/bin/python3', '-c', 'import dkim', 'python3-dkim'],
  ['/usr/bin/python3', '-c', 'import nacl', 'python3-nacl'],
  ['/usr/bin/python3', '-c', 'import dns', 'python3-dnspython'],
  ['/usr/bin/python3', '-c', 'import authheaders', 'python3-authheaders'],
  ['/usr/bin/perl', '-e', 'use Net::SSLeay', 'libnet-ssleay-perl'], // swaks --tls
];

/** Fails the suite, with the line that helps, when something is missing: a test that did not run proves nothing. */
export default function requireTools(): void {
  const missing = new Set([
    ...Object.entries(PROGRAMS).flatMap(([path, apt]) => (isThere(path) ? [] : [apt])),
    ...LIBRARIES.flatMap(([program, flag, line, apt]) => (spawnSync(program, [flag, line]).status === 0 ? [] : [apt])),
  ]);
  if (missing.size === 0) return;
  throw new Error(`Programs are missing: apt-get install -y --no-install-recommends ${[...missing].join(' ')}`);
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
