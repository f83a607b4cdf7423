import { resolve } from 'node:path';
import { ago, formatBytes, formatTable } from './output.ts';
import { operationCall, type VerbInput, withoutArguments, oneArgument, type Verb } from './verb.ts';

/** All token actions, without those implied by others. */
const ACTIONS = 'read,manage,deploy,logs,restart,rollback';

interface Organization {
  id: string;
  name: string;
  claimed: boolean;
  frozen: boolean;
  createdAt: string;
  lastUsedAt: string | null;
  domains: number;
  mailboxes: number;
  usedBytes: number;
}

interface Token {
  id: string;
  name: string;
  prefix: string;
  actions: string[];
  lastUsedAt: string | null;
  expiresAt: string | null;
  revoked: boolean;
}

interface Service {
  id: string;
  name: string;
  control: string;
  revision: number;
}

function newToken([name, ...more]: readonly string[], { actions = ACTIONS }: VerbInput): object | undefined {
  if (name === undefined || more.length > 0) return undefined;
  return { name, actions: actions.split(',').map((one) => one.trim()) };
}

/** `SVC none | command UID -- PROG ARG... | systemd UNIT | compose FILE SERVICE`. */
function control([serviceId, kind, ...rest]: readonly string[]): object | undefined {
  const [first, second] = rest;
  if (serviceId === undefined) return undefined;
  if (kind === 'none' && rest.length === 0) return { serviceId, control: { kind } };
  if (kind === 'command' && rest.length > 1) {
    return { serviceId, control: { kind, uid: Number(first), command: rest.slice(1) } };
  }
  if (kind === 'systemd' && rest.length === 1) return { serviceId, control: { kind, unit: first } };
  if (kind !== 'compose' || first === undefined || second === undefined || rest.length > 2) return undefined;
  // Resolved here, because the server has another working directory.
  return { serviceId, control: { kind, file: resolve(first), service: second } };
}

const since = (iso: string | null): string => (iso === null ? 'never' : `${ago(Date.parse(iso))} ago`);

/** Commands for organizations, tokens and services. */
export const ORGANIZATION_VERBS: readonly Verb[] = [
  {
    words: 'org list',
    usage: '',
    about: 'List the organizations of this server, with size and last use',
    parse: operationCall('list_organizations', withoutArguments),
    pages: 'organizations',
    show: ({ organizations }: { organizations: Organization[] }) =>
      formatTable(
        ['id', 'name', 'state', 'age', 'last used', 'domains', 'mailboxes', 'size'],
        organizations.map((org) => [
          org.id,
          org.name,
          org.frozen ? 'frozen' : org.claimed ? 'claimed' : 'unclaimed',
          ago(Date.parse(org.createdAt)),
          since(org.lastUsedAt),
          String(org.domains),
          String(org.mailboxes),
          formatBytes(org.usedBytes),
        ]),
      ),
  },
  {
    words: 'org freeze',
    usage: 'ID',
    about: 'Freeze an organization: refuse its tokens, sign-ins and mail logins',
    parse: operationCall('freeze_organization', oneArgument('targetOrganizationId')),
    show: ({ organizationId }: { organizationId: string }) => `${organizationId} is frozen`,
  },
  {
    words: 'org unfreeze',
    usage: 'ID',
    about: 'Unfreeze an organization',
    parse: operationCall('unfreeze_organization', oneArgument('targetOrganizationId')),
    show: ({ organizationId }: { organizationId: string }) => `${organizationId} is active again`,
  },
  {
    words: 'token add',
    usage: 'NAME [--actions a,b] [--org ID]',
    about: 'Create a token, with all actions by default; prints it once',
    options: ['actions', 'org'],
    parse: operationCall('create_agent_token', newToken),
    show: ({ token, secret }: { token: Token; secret: string }) =>
      `${token.id} ${token.name}: ${token.actions.join(', ')}\ntoken  ${secret}   (shown once)`,
  },
  {
    words: 'token list',
    usage: '[--org ID]',
    about: "List the tokens of the operator's organization, or of another one",
    options: ['org'],
    parse: operationCall('list_agent_tokens', withoutArguments),
    pages: 'tokens',
    show: ({ tokens }: { tokens: Token[] }) =>
      formatTable(
        ['id', 'name', 'prefix', 'status', 'last used', 'actions'],
        tokens.map((token) => [
          token.id,
          token.name,
          token.prefix,
          stateOf(token),
          since(token.lastUsedAt),
          token.actions.join(','),
        ]),
      ),
  },
  {
    words: 'token revoke',
    usage: 'ID [--org ID]',
    about: 'Revoke a token at once',
    options: ['org'],
    parse: operationCall('revoke_agent_token', oneArgument('tokenId')),
    show: ({ tokenId }: { tokenId: string }) => `${tokenId} is revoked`,
  },
  {
    words: 'sign-in',
    usage: '[ADDRESS]',
    about: 'Create a one-time sign-in link for an operator member',
    parse: operationCall('create_sign_in_link', ([email, ...more]) =>
      more.length > 0 ? undefined : email === undefined ? {} : { email },
    ),
    show: ({ url, email, expiresAt }: { url: string; email: string; expiresAt: string }) =>
      `${url}\nfor ${email}, works once, expires ${expiresAt}`,
  },
  {
    words: 'second-factor reset',
    usage: 'ADDRESS',
    about: 'Remove the second factors of a person who lost them',
    parse: operationCall('reset_second_factor', oneArgument('email')),
    show: ({ email }: { email: string }) => `${email} signs in with the password alone`,
  },
  {
    words: 'service list',
    usage: '',
    about: 'List the services of all organizations, with their control',
    parse: operationCall('list_box_services', withoutArguments),
    show: ({ services }: { services: Service[] }) =>
      formatTable(
        ['id', 'name', 'control', 'revision'],
        services.map(({ id, name, control: kind, revision }) => [id, name, kind, String(revision)]),
      ),
  },
  {
    words: 'service control',
    usage: 'ID none|command UID -- PROGRAM ARG...|systemd UNIT|compose FILE SERVICE',
    about: 'Set how a service is controlled on this machine',
    parse: operationCall('set_service_control', control),
    show: ({ service }: { service: Service }) => `${service.id} ${service.name}: ${service.control}`,
  },
  {
    words: 'service variables',
    usage: 'ID [NAME ...]',
    about: 'Set the names of variables that deployments of a service may set',
    parse: operationCall('set_service_control', ([serviceId, ...variables]) =>
      serviceId === undefined ? undefined : { serviceId, variables },
    ),
    show: ({ service }: { service: Service }) => `${service.id} ${service.name}: set`,
  },
];

function stateOf({ revoked, expiresAt }: Token): string {
  if (revoked) return 'revoked';
  if (expiresAt === null) return 'active';
  return Date.parse(expiresAt) > Date.now() ? `until ${expiresAt}` : 'expired';
}

interface Ban {
  network: string;
  reason: string;
  times: number;
  since: string;
  until: string;
}

/** Commands for blocked networks. */
export const BAN_VERBS: readonly Verb[] = [
  // Longer commands first: they share the prefix "bans".
  {
    words: 'bans lift',
    usage: 'ADDRESS',
    about: 'Unblock a network and clear its failed logins',
    parse: operationCall('remove_ban', oneArgument('address')),
    show: ({ removed, network }: { removed: boolean; network: string }) =>
      removed
        ? `${network} is unblocked`
        : `${network} was not blocked; its failed logins are cleared, so it may log in again`,
  },
  {
    words: 'bans',
    usage: '',
    about: 'List blocked networks, with reason and expiry',
    parse: operationCall('list_bans', withoutArguments),
    pages: 'bans',
    show: ({ bans }: { bans: Ban[] }) =>
      formatTable(
        ['network', 'reason', 'times', 'since', 'until'],
        bans.map(({ network, reason, times, since, until }) => [
          network,
          reason,
          String(times),
          `${ago(Date.parse(since))} ago`,
          until,
        ]),
      ),
  },
];
