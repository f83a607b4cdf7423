import { type ConnectionProfile, connectionProfile, type MailServer } from '../accounts/profile.ts';
import type { World } from '../operations/world.ts';
import { attachmentsOf } from './attachment-commands.ts';
import { type Service, sealedEnv } from './queries.ts';

/** The purpose under which env documents are sealed; the row is (service_revision, `<service>/<number>`). */
export const ENV_PURPOSE = 'service environment';

export type Environment = Readonly<Record<string, string>>;
export type EnvWorld = Pick<World, 'store' | 'secrets' | 'settings' | 'ports' | 'baseUrl' | 'log'>;

const SERVER_NAMES = ['HOST', 'PORT', 'SECURE', 'USERNAME', 'PASSWORD'] as const;

/** The names of what a mailbox gives a service: `EMAIL_...`, under an alias `EMAIL_<ALIAS>_...`. */
export function variableNames(alias: string): string[] {
  const start = prefix(alias);
  return [
    `${start}ADDRESS`,
    ...SERVER_NAMES.map((name) => `${start}IMAP_${name}`),
    ...SERVER_NAMES.map((name) => `${start}SMTP_${name}`),
    `${start}JMAP_URL`,
    `${start}JMAP_TOKEN`,
  ];
}

function prefix(alias: string): string {
  return alias === '' ? 'EMAIL_' : `EMAIL_${alias}_`;
}

function variables(profile: ConnectionProfile, alias: string): [string, string][] {
  const values = [
    profile.address,
    ...serverValues(profile.imap),
    ...serverValues(profile.smtp),
    profile.jmap.url,
    profile.jmap.token,
  ];
  return variableNames(alias).map((name, i) => [name, values[i] ?? '']);
}

function serverValues({ host, port, secure, username, password }: MailServer): string[] {
  return [host, String(port), String(secure), username, password];
}

/** Everything that a service is given: its own document, and what the attached mailboxes add. Holds passwords. */
export async function environmentOf(world: EnvWorld, service: Service): Promise<Environment> {
  const own = await ownEnvironment(world, service, service.revision);
  const all: [string, string][] = Object.entries(own);
  for (const { alias, account, address } of await world.store.read(attachmentsOf, { service: service.id })) {
    const profile = await connectionProfile(world, { id: account, address });
    if (profile !== undefined) all.push(...variables(profile, alias));
  }
  return Object.fromEntries(all);
}

/** The document of one revision; none was deployed: empty. */
export async function ownEnvironment(world: EnvWorld, { id }: Service, number: number): Promise<Environment> {
  const sealed = await world.store.read(sealedEnv, { service: id, number });
  if (sealed === undefined) return {};
  const text = world.secrets.open(ENV_PURPOSE, 'service_revision', `${id}/${number}`, sealed).toString();
  return JSON.parse(text) as Environment;
}

/**
 * The text of an environment file that docker compose (`env_file:`) and systemd (`EnvironmentFile=`) read alike: plain
 * where nothing needs quoting, else in single quotes, in which both take everything as it stands.
 */
export function envFileText(environment: Environment): string {
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  return ['# Written by Mailstead; changes here are overwritten.', ...lines, ''].join('\n');
}

function quoted(value: string): string {
  if (/^[\w@%+=:,./-]*$/.test(value)) return value;
  // docker compose takes a backslash before the last quote for one that escapes it.
  if (!value.includes("'") && !value.endsWith('\\')) return `'${value}'`;
  return `"${value.replace(/[\\"$]/g, String.raw`\$&`)}"`;
}
