import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import type { Listeners } from './appliance.ts';
import type { Seeded } from './seed.ts';

interface Facts {
  settings: Settings;
  listeners: Listeners;
  seeded: Seeded;
  selfSigned: boolean;
}

/** What a start says to the person who made it. Each line that begins with `$` works as printed. */
export function howToTry(facts: Facts): string {
  return facts.settings.live ? live(facts) : local(facts);
}

function local({ settings, listeners, seeded }: Facts): string {
  const address = seeded.address ?? '';
  const password = seeded.password ?? 'PASSWORD';
  const { smtp, submissions, imaps, http } = listeners;
  const known =
    seeded.password === undefined
      ? `  password  as the first start printed it; a new one: bin/mailstead mailbox password ${address}${where(settings)}`
      : `  password  ${password}   (shown once; a new one: bin/mailstead mailbox password ${address}${where(settings)})`;
  const tries: [string, boolean, string][] = [
    [
      'Receive a mail (SMTP)',
      smtp !== undefined,
      `swaks --server 127.0.0.1:${smtp} --from you@example.org --to ${address}`,
    ],
    [
      'Read it (IMAP)',
      imaps !== undefined,
      `curl -sk --user ${quoted(`${address}:${password}`)} 'imaps://127.0.0.1:${imaps}/INBOX;MAILINDEX=1'`,
    ],
    [
      'Send one; it is held, as local mode sends nothing to the world',
      submissions !== undefined,
      `swaks --server 127.0.0.1:${submissions} --tlsc --auth PLAIN --auth-user ${address} --auth-password ${quoted(password)} --from ${address} --to you@example.org`,
    ],
    ['See what is held', true, `bin/mailstead queue list${where(settings)}`],
  ];
  const lines = tries.filter(([, possible]) => possible).map(([what, , how]) => `  ${what}\n    $ ${how}`);
  return [
    '',
    'Mailstead runs in local mode: on this machine only, and it sends nothing to the world.',
    '',
    `  mailbox   ${address}`,
    known,
    `  ports     ${ports(listeners)}`,
    `  data      ${settings.dataDir}`,
    ...(http === undefined
      ? []
      : [
          `  portal    ${settings.baseUrl ?? `http://127.0.0.1:${http}`}${seeded.door ?? '/'}   (signs you in, once)`,
          `  health    http://127.0.0.1:${http}/readyz`,
        ]),
    '',
    ...lines,
    '',
  ].join('\n');
}

function live({ settings, listeners, seeded, selfSigned }: Facts): string {
  const at = where(settings);
  const certificate = selfSigned
    ? 'The certificate is self-signed: other hosts and mail programs will warn. Set MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY.'
    : undefined;
  return [
    '',
    `Mailstead is ${settings.hostname}.`,
    `  ports     ${ports(listeners)}`,
    `  data      ${settings.dataDir}`,
    ...(certificate === undefined ? [] : [`  ${certificate}`]),
    ...(seeded.door === undefined
      ? []
      : [`  claim     ${settings.baseUrl ?? ''}${seeded.door}   (who opens it first is the operator of this box)`]),
    `  next      bin/mailstead domain add example.com${at} && bin/mailstead mailbox add you@example.com${at}`,
    '',
  ].join('\n');
}

function ports(listeners: Listeners): string {
  return Object.entries(listeners)
    .map(([name, port]) => `${name} ${port}`)
    .join(', ');
}

/** How a command finds this server when its data is not where commands look by themselves. */
function where({ dataDir }: Settings): string {
  return dataDir === resolve('data') ? '' : ` --data-dir ${quoted(dataDir)}`;
}

/** One word of a shell's command line, whatever is in it. */
function quoted(word: string): string {
  return /^[\w@:./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
