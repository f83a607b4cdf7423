import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';

import type { Parse } from './parse.ts';
import { SETTINGS } from './settings.ts';
import type { SettingName, Settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One sentence that names the setting and says what to do. */
export interface Problem {
  readonly problem: string;
}

const PREFIX = 'MAILSTEAD_';

/** Names that npm, Docker and others may set are not ours to judge; ours must all be known. */
type Given = Partial<Record<SettingName, string>>;

type Values = { [N in SettingName]: ValueOf<(typeof SETTINGS)[N]> | undefined };
type ValueOf<S> = S extends { parse: Parse<infer T> } ? T : never;

/**
 * Reads the settings from the environment and, below it, from the file that `--env-file FILE` names among `args`.
 * `terminal` decides the default log format. Reads no other file and changes nothing.
 */
export function loadSettings(env: Environment, args: readonly string[], terminal = false): Settings | Problem {
  try {
    const values = parseAll({ ...given(fromFile(args)), ...given(env) });
    return settle(values, terminal);
  } catch (error) {
    if (error instanceof BadSetting) return { problem: error.message };
    throw error;
  }
}

class BadSetting extends Error {}

function fromFile(args: readonly string[]): Environment {
  const { values } = parseArgs({
    args: [...args],
    options: { 'env-file': { type: 'string', multiple: true } },
    strict: false,
  });
  const files = values['env-file'] ?? [];
  return Object.assign({}, ...files.map(readFile)) as Environment;
}

function readFile(path: string | boolean): Environment {
  if (typeof path === 'boolean') throw new BadSetting('--env-file needs the name of a file.');
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new BadSetting(`The file ${path} named by --env-file cannot be read: ${(error as Error).message}.`);
  }
}

/** Our names without the prefix. An empty value is no value: that is how a compose file passes an unset variable on. */
function given(env: Environment): Given {
  const ours = Object.entries(env).filter(([name]) => name.startsWith(PREFIX));
  for (const [name] of ours) {
    if (Object.hasOwn(SETTINGS, name.slice(PREFIX.length))) continue;
    throw new BadSetting(`There is no setting ${name}: see config/example.env for all there are.`);
  }
  return Object.fromEntries(
    ours
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => [name.slice(PREFIX.length), value]),
  );
}

function parseAll(env: Given): Values {
  const live = env.HOSTNAME !== undefined;
  const names = Object.keys(SETTINGS) as SettingName[];
  return Object.fromEntries(names.map((name) => [name, parseOne(name, env[name], live)])) as Values;
}

function parseOne(name: SettingName, value: string | undefined, live: boolean): unknown {
  const setting: { parse: Parse<unknown>; notYet?: string | true; secret?: true } = SETTINGS[name];
  if (value !== undefined && setting.notYet !== undefined && value !== setting.notYet) {
    const instead = setting.notYet === true ? 'leave it unset' : `leave it unset or at "${setting.notYet}"`;
    throw new BadSetting(`${PREFIX}${name} is for a part that this version does not have yet: ${instead}.`);
  }
  const text = value ?? defaultOf(name, live);
  if (text === undefined) return undefined;
  const parsed = setting.parse(text);
  if (parsed.ok) return parsed.value;
  throw new BadSetting(`${PREFIX}${name} must be ${parsed.expected}${setting.secret ? '' : `, not "${text}"`}.`);
}

/** The default of a setting as it would be written, or undefined when it has none. */
export function defaultOf(name: SettingName, live: boolean): string | undefined {
  const setting: { local?: string; live?: string } = SETTINGS[name];
  return live ? (setting.live ?? setting.local) : setting.local;
}

function settle(values: Values, terminal: boolean): Settings {
  const live = values.HOSTNAME !== undefined;
  const dataDir = resolve(needed(values.DATA_DIR));
  const hostname = values.HOSTNAME ?? 'box.test';
  checkTogether(values, live);
  return {
    live,
    dataDir,
    hostname,
    baseUrl: values.BASE_URL ?? (live ? `https://${hostname}` : undefined),
    listen: needed(values.LISTEN),
    ports: {
      http: values.HTTP_PORT,
      https: values.HTTPS_PORT,
      smtp: values.SMTP_PORT,
      submission: values.SUBMISSION_PORT,
      submissions: values.SUBMISSIONS_PORT,
      imap: values.IMAP_PORT,
      imaps: values.IMAPS_PORT,
      dns: values.DNS_PORT,
    },
    resolvers: values.RESOLVERS,
    dnssec: needed(values.DNSSEC),
    outboundPort: needed(values.OUTBOUND_PORT),
    outboundAddresses: values.OUTBOUND_ADDRESSES,
    outboundHostname: values.OUTBOUND_HOSTNAME,
    allowPrivateNetworks: needed(values.ALLOW_PRIVATE_NETWORKS),
    exemptNetworks: values.EXEMPT_NETWORKS ?? [],
    tls:
      values.TLS_CERT && values.TLS_KEY
        ? { certFile: resolve(values.TLS_CERT), keyFile: resolve(values.TLS_KEY) }
        : undefined,
    smarthost: smarthostOf(values),
    trustProxy: values.TRUST_PROXY ?? [],
    bootstrap: needed(values.BOOTSTRAP),
    unclaimedSending: needed(values.UNCLAIMED_SENDING),
    mailboxDaily: needed(values.MAILBOX_DAILY),
    mailboxNewRecipients: needed(values.MAILBOX_NEW_RECIPIENTS),
    organizationDaily: needed(values.ORGANIZATION_DAILY),
    keyPerSecond: needed(values.KEY_PER_SECOND),
    pauseSenders: needed(values.PAUSE_SENDERS) === 'on',
    billingSetupUrl: values.BILLING_SETUP_URL,
    tokenPrefix: needed(values.TOKEN_PREFIX),
    localPassword: values.LOCAL_PASSWORD,
    keyFile: values.KEY_FILE === undefined ? join(dataDir, 'secret.key') : resolve(values.KEY_FILE),
    maxMessageBytes: needed(values.MAX_MESSAGE_BYTES),
    rspamdUrl: values.RSPAMD_URL,
    clamav: values.CLAMAV,
    dnsLists: { addresses: needed(values.DNSBL), hosts: needed(values.URIBL) },
    greylist: live && needed(values.GREYLIST) === 'on',
    spamChecks: needed(values.SPAM_CHECKS) === 'on',
    trustedSealers: values.TRUSTED_SEALERS ?? [],
    logLevel: needed(values.LOG_LEVEL),
    logFormat: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
}

function smarthostOf({ SMARTHOST: url, SMARTHOST_USE: use, SMARTHOST_PASSWORD_FILE: file }: Values) {
  if (url === undefined) return undefined;
  return { ...url, use: needed(use), passwordFile: file === undefined ? undefined : resolve(file) };
}

const PORTS = (Object.keys(SETTINGS) as SettingName[]).filter(
  (name): name is Extract<SettingName, `${string}_PORT`> => name.endsWith('_PORT') && name !== 'OUTBOUND_PORT',
);

/** What is wrong only together. */
function checkTogether(values: Values, live: boolean): void {
  if ((values.TLS_CERT === undefined) !== (values.TLS_KEY === undefined)) {
    const [missing, set] = values.TLS_CERT === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];
    throw new BadSetting(`${PREFIX}${missing} is missing beside ${PREFIX}${set}: set both or neither.`);
  }
  checkSmarthost(values);
  if (live && values.LOCAL_PASSWORD !== undefined) {
    throw new BadSetting(`${PREFIX}LOCAL_PASSWORD is for local mode only: unset it, or unset ${PREFIX}HOSTNAME.`);
  }
  const doors = PORTS.filter((name) => (values[name] ?? 0) !== 0);
  const second = doors.find((name, i) => doors.findIndex((other) => values[other] === values[name]) < i);
  const first = second && doors.find((name) => values[name] === values[second]);
  if (second) throw new BadSetting(`${PREFIX}${first} and ${PREFIX}${second} are the same port: change one.`);
}

function checkSmarthost({ SMARTHOST: url, SMARTHOST_PASSWORD_FILE: file }: Values): void {
  const name = `${PREFIX}SMARTHOST`;
  if (url === undefined) {
    if (file !== undefined) throw new BadSetting(`${name}_PASSWORD_FILE is set without ${name}: set both or neither.`);
    return;
  }
  if (url.password !== undefined && file !== undefined) {
    throw new BadSetting(`The password is in ${name} and ${name}_PASSWORD_FILE is set: leave one of them out.`);
  }
  if ((url.username === '') !== (url.password === undefined && file === undefined)) {
    throw new BadSetting(`${name} has a user name or a password without the other: give both, or none.`);
  }
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting that always has a value has none');
  return value;
}
