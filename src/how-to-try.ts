import { resolve } from 'node:path';
import type { Settings } from '../config/settings.ts';
import { secretUrl } from './letters/secret-pages.ts';
import { catalogueSha256 } from './mcp/catalogue-pin.ts';
import type { Listeners } from './start/ports.ts';
import type { Seeded } from './seed.ts';

interface Facts {
  settings: Settings;
  listeners: Listeners;
  seeded: Seeded;
  selfSigned: boolean;
  baseUrl: string;
}

/** Something to try. `secret` is one that the line needs; a later start does not know it any more. */
interface Try {
  what: string;
  /** Undefined: no door is open for it. */
  port: number | undefined;
  secret?: string | undefined;
  needs?: 'PASSWORD' | 'TOKEN';
  how: (port: number, secret: string) => string;
}

/** What a start says to the person who made it. Each line that begins with `$` works as printed. */
export function howToTry(facts: Facts): string {
  return facts.settings.live ? live(facts) : local(facts);
}

function local(facts: Facts): string {
  const { settings, listeners, seeded } = facts;
  const { http } = listeners;
  return [
    '',
    'Mailstead runs in local mode: on this machine only, and it sends nothing to the world.',
    '',
    `  mailbox   ${seeded.address ?? ''}`,
    ...secrets(facts),
    `  ports     ${ports(listeners)}`,
    `  data      ${settings.dataDir}`,
    tools(),
    ...(http === undefined ? [] : [`  health    http://127.0.0.1:${http}/readyz`]),
    '',
    ...[...mailTries(facts), ...agentTries(facts)].flatMap(shown),
    ...clientLine(facts),
    '',
  ].join('\n');
}

function secrets({ settings, listeners, seeded, baseUrl }: Facts): string[] {
  const at = where(settings);
  const [password, token] = [
    `bin/mailstead mailbox password ${seeded.address}${at}`,
    `bin/mailstead token add NAME${at}`,
  ];
  const before = 'as the first start printed it;';
  return [
    seeded.password === undefined
      ? `  password  ${before} a new one: ${password}`
      : `  password  ${seeded.password}   (shown once; a new one: ${password})`,
    seeded.token === undefined
      ? `  token     ${before} another: ${token}`
      : `  token     ${seeded.token}   (shown once; another: ${token})`,
    ...(listeners.http === undefined
      ? []
      : [
          `  sign in   ${secretUrl(() => baseUrl, 'signIn', { token: seeded.signIn ?? '' })}   (once, within a day; another: bin/mailstead sign-in${at})`,
        ]),
  ];
}

function mailTries({ settings, listeners, seeded }: Facts): Try[] {
  const { smtp, submissions, imaps } = listeners;
  const { address = '', password } = seeded;
  return [
    {
      what: 'Receive a mail (SMTP)',
      port: smtp,
      how: (port) => `swaks --server 127.0.0.1:${port} --from you@example.org --to ${address}`,
    },
    {
      what: 'Read it (IMAP)',
      port: imaps,
      secret: password,
      needs: 'PASSWORD',
      how: (port, secret) =>
        `curl -sk --user ${quoted(`${address}:${secret}`)} 'imaps://127.0.0.1:${port}/INBOX;MAILINDEX=1'`,
    },
    {
      what: 'Send one; it is held, as local mode sends nothing to the world',
      port: submissions,
      secret: password,
      needs: 'PASSWORD',
      how: (port, secret) =>
        `swaks --server 127.0.0.1:${port} --tlsc --auth PLAIN --auth-user ${address} --auth-password ${quoted(secret)} --from ${address} --to you@example.org`,
    },
    { what: 'See what is held', port: 0, how: () => `bin/mailstead queue list${where(settings)}` },
  ];
}

function agentTries({ listeners, seeded }: Facts): Try[] {
  const call = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'whoami', arguments: {} },
  });
  const common = { port: listeners.http, secret: seeded.token, needs: 'TOKEN' as const };
  return [
    {
      ...common,
      what: 'Call a tool as an agent does (MCP)',
      how: (port, token) =>
        `curl -s http://127.0.0.1:${port}/mcp -H 'Content-Type: application/json' -H ${bearer(token)} -d '${call}'`,
    },
    {
      ...common,
      what: 'Call it by REST',
      how: (port, token) => `curl -s -X POST http://127.0.0.1:${port}/api/tools/whoami -H ${bearer(token)}`,
    },
  ];
}

/** It is for a program that may not be here, so it is nothing to try. */
function clientLine({ listeners, seeded, baseUrl }: Facts): string[] {
  if (listeners.http === undefined) return [];
  const header = `--header "Authorization: Bearer ${seeded.token ?? 'TOKEN'}"`;
  return [
    '  Connect an MCP client, such as Claude Code',
    `    claude mcp add --transport http mailstead ${baseUrl}/mcp ${header}`,
  ];
}

function shown({ what, port, secret, needs, how }: Try): string[] {
  if (port === undefined) return [];
  if (needs === undefined || secret !== undefined) return [`  ${what}`, `    $ ${how(port, secret ?? '')}`];
  return [`  ${what}, with the real ${needs.toLowerCase()}`, `    ${how(port, needs)}`];
}

function live({ settings, listeners, seeded, selfSigned, baseUrl }: Facts): string {
  const at = where(settings);
  const certificate = selfSigned
    ? 'The certificate is self-signed: other hosts and mail programs will warn. Set MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY.'
    : undefined;
  return [
    '',
    `Mailstead is ${settings.hostname}.`,
    `  ports     ${ports(listeners)}`,
    `  data      ${settings.dataDir}`,
    tools(),
    ...(certificate === undefined ? [] : [`  ${certificate}`]),
    ...(seeded.claim === undefined
      ? []
      : [
          `  claim     ${secretUrl(() => baseUrl, 'claim', { token: seeded.claim })}`,
          '            Nobody has claimed this box: who opens this and sets a password owns it. Each start makes a new link.',
        ]),
    ...(seeded.unheard === true
      ? [
          '  letters   No owner of this box has proved an address: none is told by mail what waits, or of trouble.',
          `            The button that mails a link which proves it: ${baseUrl}/account`,
        ]
      : []),
    `  next      bin/mailstead domain add example.com${at} && bin/mailstead mailbox add you@example.com${at}`,
    '',
  ].join('\n');
}

/** By this an owner knows later whether agents are shown other tools. */
function tools(): string {
  return `  tools     SHA-256 ${catalogueSha256()}`;
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

function bearer(token: string): string {
  return quoted(`Authorization: Bearer ${token}`);
}

/** One word of a shell's command line, whatever is in it. */
function quoted(word: string): string {
  return /^[\w@:./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
