import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';

import type { Parse } from './parse.ts';
import type { BackupSettings } from './parse-backup.ts';
import type { BlobSettings } from './parse-s3.ts';
import { SETTINGS } from './settings.ts';
import type { SettingName, Settings } from './settings.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Error that names the setting and the correction. */
export interface SettingsProblem {
  readonly problem: string;
}

const PREFIX = 'MAILSTEAD_';

/** Settings as text, without the prefix. */
type Given = Partial<Record<SettingName, string>>;

type Values = { [N in SettingName]: ValueOf<(typeof SETTINGS)[N]> | undefined };
type ValueOf<S> = S extends { parse: Parse<infer T> } ? T : never;

/**
 * Reads the settings from the environment and, below it, from the file that `--env-file FILE` names among `args`.
 * `terminal` decides the default log format. Reads no other file and changes nothing.
 */
export function loadSettings(
  env: EnvironmentVariables,
  args: readonly string[],
  terminal = false,
): Settings | SettingsProblem {
  try {
    const values = parseAll({ ...given(fromFile(args)), ...given(env) });
    return resolveSettings(values, terminal);
  } catch (error) {
    if (error instanceof BadSetting) return { problem: error.message };
    throw error;
  }
}

class BadSetting extends Error {}

function fromFile(args: readonly string[]): EnvironmentVariables {
  const { values } = parseArgs({
    args: [...args],
    options: { 'env-file': { type: 'string', multiple: true } },
    strict: false,
  });
  const files = values['env-file'] ?? [];
  return Object.assign({}, ...files.map(readFile)) as EnvironmentVariables;
}

function readFile(path: string | boolean): EnvironmentVariables {
  if (typeof path === 'boolean') throw new BadSetting('--env-file needs a file name.');
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new BadSetting(`Cannot read the file ${path} of --env-file: ${(error as Error).message}.`);
  }
}

/** Selects MAILSTEAD_ variables, without the prefix. An empty value counts as unset, as compose files pass unset variables. */
function given(env: EnvironmentVariables): Given {
  const ours = Object.entries(env).filter(([name]) => name.startsWith(PREFIX));
  for (const [name] of ours) {
    if (Object.hasOwn(SETTINGS, name.slice(PREFIX.length))) continue;
    throw new BadSetting(`Unknown setting ${name}. See config/example.env for all settings.`);
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
    throw new BadSetting(`${PREFIX}${name} is not supported in this version: ${instead}.`);
  }
  const text = value ?? defaultOf(name, live);
  if (text === undefined) return undefined;
  const parsed = setting.parse(text);
  if (parsed.ok) return parsed.value;
  throw new BadSetting(`${PREFIX}${name} must be ${parsed.expected}${setting.secret ? '' : `, not "${text}"`}.`);
}

/** Default of a setting as text; undefined if it has none. */
export function defaultOf(name: SettingName, live: boolean): string | undefined {
  const setting: { local?: string; live?: string } = SETTINGS[name];
  return live ? (setting.live ?? setting.local) : setting.local;
}

function resolveSettings(values: Values, terminal: boolean): Settings {
  const live = values.HOSTNAME !== undefined;
  const dataDir = resolve(needed(values.DATA_DIR));
  const hostname = values.HOSTNAME ?? 'box.test';
  checkCombinations(values, live);
  return {
    live,
    dataDir,
    database: databaseOf(values),
    node: values.NODE,
    hostname,
    baseUrl: values.BASE_URL ?? (live ? `https://${hostname}` : undefined),
    listen: needed(values.LISTEN),
    ports: portsOf(values),
    resolvers: values.RESOLVERS,
    dnssec: needed(values.DNSSEC),
    ...outboundOf(values),
    allowPrivateNetworks: needed(values.ALLOW_PRIVATE_NETWORKS),
    exemptNetworks: values.EXEMPT_NETWORKS ?? [],
    tls: certificateOf(values),
    acme: acmeOf(values),
    smarthost: smarthostOf(values),
    singleSignOn: singleSignOnOf(values),
    trustProxy: values.TRUST_PROXY ?? [],
    bootstrap: needed(values.BOOTSTRAP),
    ...sendingLimitsOf(values),
    imapUidOnly: needed(values.IMAP_UIDONLY) === 'on',
    billingSetupUrl: values.BILLING_SETUP_URL,
    tokenPrefix: needed(values.TOKEN_PREFIX),
    localPassword: values.LOCAL_PASSWORD,
    keyFile: values.KEY_FILE === undefined ? join(dataDir, 'secret.key') : resolve(values.KEY_FILE),
    maxMessageBytes: needed(values.MAX_MESSAGE_BYTES),
    memoryMb: values.MEMORY ?? machineMemoryMb(),
    ...filterOf(values, live),
    backup: backupOf(values),
    blobs: blobsOf(values),
    logLevel: needed(values.LOG_LEVEL),
    logFormat: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
  };
}

function portsOf(values: Values): Settings['ports'] {
  return {
    http: values.HTTP_PORT,
    https: values.HTTPS_PORT,
    smtp: values.SMTP_PORT,
    submission: values.SUBMISSION_PORT,
    submissions: values.SUBMISSIONS_PORT,
    imap: values.IMAP_PORT,
    imaps: values.IMAPS_PORT,
    dns: values.DNS_PORT,
  };
}

function outboundOf(values: Values) {
  return {
    outboundPort: needed(values.OUTBOUND_PORT),
    outboundAddresses: values.OUTBOUND_ADDRESSES,
    outboundHostname: values.OUTBOUND_HOSTNAME,
    sendingRamp: values.SENDING_RAMP === 'on',
    sendReports: values.SEND_REPORTS === 'on',
  };
}

function certificateOf({ TLS_CERT: certFile, TLS_KEY: keyFile }: Values): Settings['tls'] {
  return certFile && keyFile ? { certFile: resolve(certFile), keyFile: resolve(keyFile) } : undefined;
}

function sendingLimitsOf(values: Values) {
  return {
    unclaimedSending: needed(values.UNCLAIMED_SENDING),
    mailboxDaily: needed(values.MAILBOX_DAILY),
    mailboxNewRecipients: needed(values.MAILBOX_NEW_RECIPIENTS),
    organizationDaily: needed(values.ORGANIZATION_DAILY),
    keyPerSecond: needed(values.KEY_PER_SECOND),
    pauseSenders: needed(values.PAUSE_SENDERS) === 'on',
  };
}

function filterOf(values: Values, live: boolean) {
  return {
    rspamdUrl: values.RSPAMD_URL,
    clamav: values.CLAMAV,
    dnsLists: { addresses: needed(values.DNSBL), hosts: needed(values.URIBL) },
    greylist: live && needed(values.GREYLIST) === 'on',
    spamChecks: needed(values.SPAM_CHECKS) === 'on',
    trustedSealers: values.TRUSTED_SEALERS ?? [],
  };
}

/** The memory limit of the cgroup, or the memory of the machine, in MB. */
function machineMemoryMb(): number {
  const limit = process.constrainedMemory();
  return Math.floor(Math.min(totalmem(), limit > 0 ? limit : Infinity) / 1_048_576);
}

function acmeOf({ ACME_EMAIL: email, ACME_DIRECTORY, ACME_CHALLENGE, ACME_KEYS }: Values): Settings['acme'] {
  if (email === undefined) return undefined;
  const [directory, challenge] = [needed(ACME_DIRECTORY), needed(ACME_CHALLENGE)];
  return { email, directory, challenge, rsa: needed(ACME_KEYS) === 'ecdsa,rsa' };
}

function databaseOf({ DATABASE: url, DATABASE_PASSWORD_FILE: file }: Values): Settings['database'] {
  return url === undefined ? undefined : { url, passwordFile: file === undefined ? undefined : resolve(file) };
}

function backupOf(values: Values): BackupSettings {
  const { BACKUP_PASSPHRASE_FILE: passphraseFile, BACKUP_S3_SECRET_KEY_FILE: secretKeyFile } = values;
  const { BACKUP_IDENTITY_FILE: identityFile } = values;
  return {
    target: values.BACKUP_TARGET,
    everyMs: needed(values.BACKUP_EVERY),
    continuousMs: needed(values.BACKUP_CONTINUOUS),
    keep: needed(values.BACKUP_KEEP),
    rate: needed(values.BACKUP_RATE),
    passphrase: values.BACKUP_PASSPHRASE,
    passphraseFile: passphraseFile === undefined ? undefined : resolve(passphraseFile),
    recipients: values.BACKUP_RECIPIENT ?? [],
    identity: values.BACKUP_IDENTITY,
    identityFile: identityFile === undefined ? undefined : resolve(identityFile),
    s3: {
      endpoint: values.BACKUP_S3_ENDPOINT,
      region: needed(values.BACKUP_S3_REGION),
      accessKey: values.BACKUP_S3_ACCESS_KEY,
      secretKey: values.BACKUP_S3_SECRET_KEY,
      secretKeyFile: secretKeyFile === undefined ? undefined : resolve(secretKeyFile),
    },
  };
}

function blobsOf(values: Values): BlobSettings {
  const { BLOBS_S3_SECRET_KEY_FILE: secretKeyFile } = values;
  return {
    bucket: values.BLOBS,
    cacheMb: needed(values.BLOBS_CACHE),
    s3: {
      endpoint: values.BLOBS_S3_ENDPOINT,
      region: needed(values.BLOBS_S3_REGION),
      accessKey: values.BLOBS_S3_ACCESS_KEY,
      secretKey: values.BLOBS_S3_SECRET_KEY,
      secretKeyFile: secretKeyFile === undefined ? undefined : resolve(secretKeyFile),
    },
  };
}

function smarthostOf({ SMARTHOST: url, SMARTHOST_USE: use, SMARTHOST_PASSWORD_FILE: file }: Values) {
  if (url === undefined) return undefined;
  return { ...url, use: needed(use), passwordFile: file === undefined ? undefined : resolve(file) };
}

function singleSignOnOf(values: Values) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET_FILE: file } = values;
  if (issuer === undefined || clientId === undefined) return undefined;
  const clientSecretFile = file === undefined ? undefined : resolve(file);
  return {
    issuer,
    clientId,
    clientSecret: values.OIDC_CLIENT_SECRET,
    clientSecretFile,
    name: needed(values.OIDC_NAME),
  };
}

const PORTS = (Object.keys(SETTINGS) as SettingName[]).filter(
  (name): name is Extract<SettingName, `${string}_PORT`> => name.endsWith('_PORT') && name !== 'OUTBOUND_PORT',
);

/** Checks settings that depend on each other. */
function checkCombinations(values: Values, live: boolean): void {
  if ((values.TLS_CERT === undefined) !== (values.TLS_KEY === undefined)) {
    const [missing, set] = values.TLS_CERT === undefined ? ['TLS_CERT', 'TLS_KEY'] : ['TLS_KEY', 'TLS_CERT'];
    throw new BadSetting(`${PREFIX}${missing} is missing, but ${PREFIX}${set} is set. Set both or neither.`);
  }
  checkSmarthost(values);
  checkSingleSignOn(values);
  checkDatabase(values);
  checkNode(values);
  if (!live && values.ACME_EMAIL !== undefined) {
    throw new BadSetting(`${PREFIX}ACME_EMAIL is for live mode only. Set ${PREFIX}HOSTNAME, or unset it.`);
  }
  if (live && values.LOCAL_PASSWORD !== undefined) {
    throw new BadSetting(`${PREFIX}LOCAL_PASSWORD is for local mode only. Unset it, or unset ${PREFIX}HOSTNAME.`);
  }
  const enabled = PORTS.filter((name) => (values[name] ?? 0) !== 0);
  const second = enabled.find((name, i) => enabled.findIndex((other) => values[other] === values[name]) < i);
  const first = second && enabled.find((name) => values[name] === values[second]);
  if (second) throw new BadSetting(`${PREFIX}${first} and ${PREFIX}${second} use the same port. Change one.`);
}

function checkDatabase({ DATABASE: url, DATABASE_PASSWORD_FILE: file, BACKUP_TARGET: target }: Values): void {
  const name = `${PREFIX}DATABASE`;
  if (url === undefined) {
    if (file !== undefined) throw new BadSetting(`${name}_PASSWORD_FILE is set without ${name}. Set both or neither.`);
    return;
  }
  if (new URL(url).password !== '' && file !== undefined) {
    throw new BadSetting(`${name} contains a password and ${name}_PASSWORD_FILE is set. Use only one.`);
  }
  if (target !== undefined) {
    throw new BadSetting(
      `${PREFIX}BACKUP_TARGET backs up the embedded database only. With ${name}, unset it, back up PostgreSQL (pg_dump or a base backup) and copy the data directory (docs/scaling.md).`,
    );
  }
}

/** Nodes share what a data directory has otherwise: the database and the large messages. */
function checkNode({ NODE: node, DATABASE: url, BLOBS: blobs }: Values): void {
  if (node === undefined || (url !== undefined && blobs !== undefined)) return;
  const missing = url === undefined ? 'DATABASE' : 'BLOBS';
  const what = url === undefined ? 'a PostgreSQL database' : 'a bucket for messages over 64 KiB';
  throw new BadSetting(
    `${PREFIX}NODE makes this server one of several, which share ${what}. Set ${PREFIX}${missing}, or unset ${PREFIX}NODE (docs/scaling.md).`,
  );
}

function checkSmarthost({ SMARTHOST: url, SMARTHOST_PASSWORD_FILE: file }: Values): void {
  const name = `${PREFIX}SMARTHOST`;
  if (url === undefined) {
    if (file !== undefined) throw new BadSetting(`${name}_PASSWORD_FILE is set without ${name}. Set both or neither.`);
    return;
  }
  if (url.password !== undefined && file !== undefined) {
    throw new BadSetting(`${name} contains a password and ${name}_PASSWORD_FILE is set. Use only one.`);
  }
  if ((url.username === '') !== (url.password === undefined && file === undefined)) {
    throw new BadSetting(`${name} has a user name or a password without the other. Set both or neither.`);
  }
}

function checkSingleSignOn(values: Values): void {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client, OIDC_CLIENT_SECRET: secret } = values;
  const file = values.OIDC_CLIENT_SECRET_FILE;
  if (secret !== undefined && file !== undefined) {
    throw new BadSetting(`${PREFIX}OIDC_CLIENT_SECRET and ${PREFIX}OIDC_CLIENT_SECRET_FILE are set. Use only one.`);
  }
  if ((issuer === undefined) !== (client === undefined) || (issuer === undefined && (secret ?? file) !== undefined)) {
    throw new BadSetting(`Set ${PREFIX}OIDC_ISSUER and ${PREFIX}OIDC_CLIENT_ID together, or no setting of OIDC.`);
  }
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting with a default has no value');
  return value;
}
