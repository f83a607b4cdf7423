import { resolve } from 'node:path';
import { ago, bytes, table } from './table.ts';
import { asks, type Given, none, one, type Verb } from './verb.ts';

/** Every action there is for a token; those that these imply are not named. */
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

function newToken([name, ...more]: readonly string[], { actions = ACTIONS }: Given): object | undefined {
  if (name === undefined || more.length > 0) return undefined;
  return { name, actions: actions.split(',').map((one) => one.trim()) };
}

/** `SVC none | command -- PROG ARG... | systemd UNIT | compose FILE SERVICE`. */
function control([serviceId, kind, ...rest]: readonly string[]): object | undefined {
  const [first, second] = rest;
  if (serviceId === undefined) return undefined;
  if (kind === 'none' && rest.length === 0) return { serviceId, control: { kind } };
  if (kind === 'command' && rest.length > 0) return { serviceId, control: { kind, command: rest } };
  if (kind === 'systemd' && rest.length === 1) return { serviceId, control: { kind, unit: first } };
  if (kind !== 'compose' || first === undefined || second === undefined || rest.length > 2) return undefined;
  // The server runs elsewhere: what is written here is meant from here.
  return { serviceId, control: { kind, file: resolve(first), service: second } };
}

const since = (iso: string | null): string => (iso === null ? 'never' : `${ago(Date.parse(iso))} ago`);

/** Organizations, their tokens, and how services are run. */
export const ORGANIZATION_VERBS: readonly Verb[] = [
  {
    words: 'org list',
    usage: '',
    about: 'The organizations of this box, with size and last use',
    ask: asks('list_organizations', none),
    pages: 'organizations',
    show: ({ organizations }: { organizations: Organization[] }) =>
      table(
        ['id', 'name', 'state', 'age', 'last used', 'domains', 'mailboxes', 'size'],
        organizations.map((org) => [
          org.id,
          org.name,
          org.frozen ? 'frozen' : org.claimed ? 'claimed' : 'unclaimed',
          ago(Date.parse(org.createdAt)),
          since(org.lastUsedAt),
          String(org.domains),
          String(org.mailboxes),
          bytes(org.usedBytes),
        ]),
      ),
  },
  {
    words: 'org freeze',
    usage: 'ID',
    about: 'Stop an organization: its tokens, sign-ins and mail logins are refused',
    ask: asks('freeze_organization', one('targetOrganizationId')),
    show: ({ organizationId }: { organizationId: string }) => `${organizationId} is frozen`,
  },
  {
    words: 'org unfreeze',
    usage: 'ID',
    about: 'Let a frozen organization work again',
    ask: asks('unfreeze_organization', one('targetOrganizationId')),
    show: ({ organizationId }: { organizationId: string }) => `${organizationId} works again`,
  },
  {
    words: 'token add',
    usage: 'NAME [--actions a,b] [--org ID]',
    about: 'Make a token, with all actions unless some are named; prints it once',
    options: ['actions', 'org'],
    ask: asks('create_agent_token', newToken),
    show: ({ token, secret }: { token: Token; secret: string }) =>
      `${token.id} ${token.name}: ${token.actions.join(', ')}\ntoken  ${secret}   (shown once)`,
  },
  {
    words: 'token list',
    usage: '[--org ID]',
    about: "The tokens of the operator's organization, or of another one",
    options: ['org'],
    ask: asks('list_agent_tokens', none),
    pages: 'tokens',
    show: ({ tokens }: { tokens: Token[] }) =>
      table(
        ['id', 'name', 'begins', 'state', 'last used', 'actions'],
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
    about: 'End a token at once and for good',
    options: ['org'],
    ask: asks('revoke_agent_token', one('tokenId')),
    show: ({ tokenId }: { tokenId: string }) => `${tokenId} is revoked`,
  },
  {
    words: 'sign-in',
    usage: '[ADDRESS]',
    about: "Print a link by which a member of the operator's organization signs in once",
    ask: asks('create_sign_in_link', ([email, ...more]) =>
      more.length > 0 ? undefined : email === undefined ? {} : { email },
    ),
    show: ({ url, email, expiresAt }: { url: string; email: string; expiresAt: string }) =>
      `${url}\nfor ${email}, once, until ${expiresAt}`,
  },
  {
    words: 'service list',
    usage: '',
    about: 'The services of all organizations, and how they are run',
    ask: asks('list_box_services', none),
    show: ({ services }: { services: Service[] }) =>
      table(
        ['id', 'name', 'control', 'revision'],
        services.map(({ id, name, control: kind, revision }) => [id, name, kind, String(revision)]),
      ),
  },
  {
    words: 'service control',
    usage: 'ID none|command -- PROGRAM ARG...|systemd UNIT|compose FILE SERVICE',
    about: 'Set how a service is run on this machine',
    ask: asks('set_service_control', control),
    show: ({ service }: { service: Service }) => `${service.id} ${service.name}: ${service.control}`,
  },
];

function stateOf({ revoked, expiresAt }: Token): string {
  if (revoked) return 'revoked';
  if (expiresAt === null) return 'good';
  return Date.parse(expiresAt) > Date.now() ? `until ${expiresAt}` : 'expired';
}
