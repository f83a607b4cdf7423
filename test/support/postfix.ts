import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PostfixPlan {
  /** Gets its configuration (`postfix`), queue, data and log (`log/maillog`); others must be able to enter it. */
  dir: string;
  hostname: string;
  /** Lines of main.cf beside those that all have. */
  settings: string;
  /** Lines of master.cf beside those that all have; one with the name of a common one replaces it. */
  services: readonly string[];
}

/** Writes what a private Postfix needs that listens on loopback and is no final destination. Needs root. */
export function writePostfix({ dir, hostname, settings, services }: PostfixPlan): void {
  for (const name of ['postfix', 'spool', 'data', 'log']) mkdirSync(join(dir, name));
  execFileSync('chown', ['postfix', join(dir, 'data')]);
  writeFileSync(join(dir, 'postfix/main.cf'), `${common(dir, hostname)}${settings}`);
  const named = new Map([...SERVICES, ...services].map((line) => [line.slice(0, line.indexOf(' ')), line]));
  writeFileSync(join(dir, 'postfix/master.cf'), `${[...named.values()].join('\n')}\n`);
}

/** Program and words that start or stop it. */
export function postfixControl(dir: string, word: 'start' | 'stop'): [string, string[]] {
  return ['/usr/sbin/postfix', ['-c', join(dir, 'postfix'), word]];
}

function common(dir: string, hostname: string): string {
  return `compatibility_level = 3.6
queue_directory = ${dir}/spool
data_directory = ${dir}/data
mail_owner = postfix
setgid_group = postdrop
maillog_file_prefixes = ${dir}
maillog_file = ${dir}/log/maillog
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = ${hostname}
mydestination =
alias_maps =
local_recipient_maps =
`;
}

const SERVICES = [
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'trace unix - - n - 0 bounce',
  'flush unix n - n 1000? 0 flush',
  'proxymap unix - - n - - proxymap',
  'smtp unix - - n - - smtp',
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'anvil unix - - n - 1 anvil',
  'scache unix - - n - 1 scache',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'verify unix - - n - 1 verify',
  'postlog unix-dgram n - n - 1 postlogd',
];
