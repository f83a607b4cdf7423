import { type ConnectionProfile, connectionProfile, type MailServer } from '../accounts/profile.ts';
import type { AppContext } from '../core/app-context.ts';
import { attachmentsOf } from './attachment-commands.ts';
import { controlOf } from './control.ts';
import { type Service, sealedEnv } from './queries.ts';

/** Purpose of sealed env documents; the row is (service_revision, `<service>/<number>`). */
export const ENV_PURPOSE = 'service environment';

export type Environment = Readonly<Record<string, string>>;
export type EnvironmentContext = Pick<AppContext, 'store' | 'secrets' | 'settings' | 'ports' | 'baseUrl' | 'log'>;

const SERVER_NAMES = ['HOST', 'PORT', 'SECURE', 'USERNAME', 'PASSWORD'] as const;

/** Names of a mailbox's variables: `EMAIL_...`, under an alias `EMAIL_<ALIAS>_...`. */
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

/**
 * Environment of a service: the variables of its document that the operator allows, and those of its mailboxes. Contains
 * passwords.
 */
export async function environmentOf(world: EnvironmentContext, service: Service): Promise<Environment> {
  const own = await ownEnvironment(world, service, service.revision);
  const all: [string, string][] = Object.entries(own).filter(([name]) => isAllowed(service, name));
  for (const { alias, account, address } of await world.store.read(attachmentsOf, { service: service.id })) {
    const profile = await connectionProfile(world, { id: account, address });
    if (profile !== undefined) all.push(...variables(profile, alias));
  }
  return Object.fromEntries(all);
}

/** Names of the deployed document that the operator does not allow, and that are left out. */
export async function omittedNames(world: EnvironmentContext, service: Service): Promise<string[]> {
  const own = await ownEnvironment(world, service, service.revision);
  return Object.keys(own).filter((name) => !isAllowed(service, name));
}

function isAllowed({ control }: Service, name: string): boolean {
  return controlOf(control).variables?.includes(name) === true;
}

/** Document of one revision; empty if none was deployed. */
export async function ownEnvironment(world: EnvironmentContext, { id }: Service, number: number): Promise<Environment> {
  const sealed = await world.store.read(sealedEnv, { service: id, number });
  if (sealed === undefined) return {};
  const text = world.secrets.open(ENV_PURPOSE, 'service_revision', `${id}/${number}`, sealed).toString();
  return JSON.parse(text) as Environment;
}

/**
 * Formats an environment file that docker compose (`env_file:`) and systemd (`EnvironmentFile=`) parse alike: plain if nothing
 * needs quoting, else in single quotes, which both take literally.
 */
export function envFileText(environment: Environment): string {
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  return ['# Written by Mailstead; changes here are overwritten.', ...lines, ''].join('\n');
}

function quoted(value: string): string {
  if (/^[\w@%+=:,./-]*$/.test(value)) return value;
  // docker compose reads a backslash before the closing quote as an escape.
  if (!value.includes("'") && !value.endsWith('\\')) return `'${value}'`;
  return `"${value.replace(/[\\"$]/g, String.raw`\$&`)}"`;
}
