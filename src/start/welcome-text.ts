import { resolve } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { secretUrl } from '../notices/secret-pages.ts';
import { catalogueSha256 } from '../core/catalogue-pin.ts';
import type { Listeners } from './ports.ts';
import type { Seeded } from './seed.ts';

interface StartFacts {
  settings: Settings;
  listeners: Listeners;
  seeded: Seeded;
  selfSigned: boolean;
  baseUrl: string;
}

/** A command to try. `secret` is what it needs; known at the first start only. */
interface TrySuggestion {
  title: string;
  /** Undefined if no listener is open for it. */
  port: number | undefined;
  secret?: string | undefined;
  needs?: 'PASSWORD' | 'TOKEN';
  command: (port: number, secret: string) => string;
}

/** Text that a start prints. Each line that begins with `$` works as printed. */
export function welcomeText(facts: StartFacts): string {
  return facts.settings.live ? live(facts) : local(facts);
}

function local(facts: StartFacts): string {
  const { settings, listeners, seeded } = facts;
  const { http } = listeners;
  return [
    '',
    'Mailstead runs in local mode: it listens on this machine only and holds all outgoing mail.',
    '',
    `  mailbox   ${seeded.address ?? ''}`,
    ...secrets(facts),
    `  ports     ${ports(listeners)}`,
    `  data      ${settings.dataDir}`,
    toolsLine(),
    '  needs     curl and swaks for the commands below: apt-get install curl swaks',
    ...(http === undefined ? [] : [`  health    http://127.0.0.1:${http}/readyz`]),
    '',
    ...[...mailTries(facts), ...agentTries(facts)].flatMap(lines),
    ...clientLine(facts),
    '',
  ].join('\n');
}

function secrets({ settings, listeners, seeded, baseUrl }: StartFacts): string[] {
  const at = dataDirOption(settings);
  const [password, token] = [
    `bin/mailstead mailbox password ${seeded.address}${at}`,
    `bin/mailstead token add NAME${at}`,
  ];
  const before = 'shown at the first start;';
  return [
    seeded.password === undefined
      ? `  password  ${before} to set a new one: ${password}`
      : `  password  ${seeded.password}   (shown once; to set a new one: ${password})`,
    seeded.token === undefined
      ? `  token     ${before} to create another: ${token}`
      : `  token     ${seeded.token}   (shown once; to create another: ${token})`,
    ...(listeners.http === undefined
      ? []
      : [
          `  sign in   ${secretUrl(() => baseUrl, 'signIn', { token: seeded.signIn ?? '' })}   (works once, for 24 hours; to create another: bin/mailstead sign-in${at})`,
          `  web mail  ${baseUrl}/mail   (sign in with the mailbox and its password)`,
        ]),
  ];
}

function mailTries({ settings, listeners, seeded }: StartFacts): TrySuggestion[] {
  const { smtp, submissions, imaps } = listeners;
  const { address = '', password } = seeded;
  return [
    {
      title: 'Receive a message (SMTP)',
      port: smtp,
      command: (port) => `swaks --server 127.0.0.1:${port} --from you@example.org --to ${address}`,
    },
    {
      title: 'Read it (IMAP)',
      port: imaps,
      secret: password,
      needs: 'PASSWORD',
      command: (port, secret) =>
        `curl -sk --user ${quoted(`${address}:${secret}`)} 'imaps://127.0.0.1:${port}/INBOX;MAILINDEX=1'`,
    },
    {
      title: 'Send a message (held, because local mode delivers nothing to the internet)',
      port: submissions,
      secret: password,
      needs: 'PASSWORD',
      command: (port, secret) =>
        `swaks --server 127.0.0.1:${port} --tlsc --auth PLAIN --auth-user ${address} --auth-password ${quoted(secret)} --from ${address} --to you@example.org`,
    },
    { title: 'List held mail', port: 0, command: () => `bin/mailstead queue list${dataDirOption(settings)}` },
  ];
}

function agentTries({ listeners, seeded }: StartFacts): TrySuggestion[] {
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
      title: 'Call a tool as an agent does (MCP)',
      command: (port, token) =>
        `curl -s http://127.0.0.1:${port}/mcp -H 'Content-Type: application/json' -H ${bearer(token)} -d '${call}'`,
    },
    {
      ...common,
      title: 'Call it over REST',
      command: (port, token) => `curl -s -X POST http://127.0.0.1:${port}/api/tools/whoami -H ${bearer(token)}`,
    },
  ];
}

/** Command for an MCP client. Not marked with `$`: the program may not be installed. */
function clientLine({ listeners, seeded, baseUrl }: StartFacts): string[] {
  if (listeners.http === undefined) return [];
  const header = `--header "Authorization: Bearer ${seeded.token ?? 'TOKEN'}"`;
  return [
    '  Connect an MCP client, such as Claude Code',
    `    claude mcp add --transport http mailstead ${baseUrl}/mcp ${header}`,
  ];
}

function lines({ title, port, secret, needs, command }: TrySuggestion): string[] {
  if (port === undefined) return [];
  if (needs === undefined || secret !== undefined) return [`  ${title}`, `    $ ${command(port, secret ?? '')}`];
  return [`  ${title}; replace ${needs}`, `    ${command(port, needs)}`];
}

function live({ settings, listeners, seeded, selfSigned, baseUrl }: StartFacts): string {
  const at = dataDirOption(settings);
  const certificate = selfSigned ? selfSignedText(settings) : undefined;
  return [
    '',
    `Mailstead runs as ${settings.hostname}.`,
    `  ports     ${ports(listeners)}`,
    `  data      ${settings.dataDir}`,
    toolsLine(),
    ...(certificate === undefined ? [] : [`  ${certificate}`]),
    ...(seeded.claim === undefined
      ? []
      : [
          `  claim     ${secretUrl(() => baseUrl, 'claim', { token: seeded.claim })}`,
          '            This server is unclaimed: open the link, set a password, and follow the steps of the set-up. Each start creates a new link.',
        ]),
    ...(seeded.noOwnerAddress === true
      ? [
          '  notices   No owner has a verified address: approval requests and alerts are not emailed.',
          `            Verify one: ${baseUrl}/account`,
        ]
      : []),
    ...(settings.bootstrap === 'off'
      ? ['  accounts  Only you can create organizations. MAILSTEAD_BOOTSTRAP=open or invite lets others.']
      : []),
    `  next      bin/mailstead domain add example.com${at} && bin/mailstead mailbox add you@example.com${at}`,
    '',
  ].join('\n');
}

function selfSignedText({ acme }: Settings): string {
  return acme === undefined
    ? 'The certificate is self-signed: clients and other servers will warn. Set MAILSTEAD_ACME_EMAIL to your address for automatic certificates, or MAILSTEAD_TLS_CERT and MAILSTEAD_TLS_KEY to files.'
    : `The certificate is self-signed until ${new URL(acme.directory).hostname} issues one, mostly within a minute: mailstead certificate list shows it.`;
}

/** Digest of the tool catalogue; an owner compares it later to detect changed tools. */
function toolsLine(): string {
  return `  tools     SHA-256 ${catalogueSha256()}`;
}

function ports(listeners: Listeners): string {
  return Object.entries(listeners)
    .map(([name, port]) => `${name} ${port}`)
    .join(', ');
}

/** The --data-dir option, if the data is not in the default directory. */
function dataDirOption({ dataDir }: Settings): string {
  return dataDir === resolve('data') ? '' : ` --data-dir ${quoted(dataDir)}`;
}

function bearer(token: string): string {
  return quoted(`Authorization: Bearer ${token}`);
}

/** Quotes a word for the shell. */
function quoted(word: string): string {
  return /^[\w@:./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
