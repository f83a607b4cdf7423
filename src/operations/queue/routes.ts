import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import {
  type OutboundRoute,
  outboundRoutes,
  removeOutboundRoute,
  setOutboundRoute,
} from '../../../mail/store/queue/outbound-route.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { sealPassword, checkSmarthostTarget } from '../../smarthosts/smarthosts.ts';
import { everyMailbox } from '../affected-mailboxes.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line } from '../../core/schemas.ts';
import { findOwnDomain } from '../scope.ts';

const Shown = z.object({
  routeId: z.string(),
  receiverDomain: z.string().nullable(),
  senderDomain: z.string().nullable(),
  use: z.enum(['always', 'failover', 'never']),
  host: z.string().nullable(),
  port: z.number().nullable(),
  tls: z.enum(['implicit', 'starttls']).nullable(),
  certificate: z.enum(['verified', 'any']).nullable(),
  username: z.string().nullable(),
  hasPassword: z.boolean(),
  problem: z.string().nullable(),
  createdAt: z.string(),
});

const Input = z.strictObject({
  receiverDomain: Line(1, 253).optional().describe('For mail to this domain'),
  senderDomain: Line(1, 253).optional().describe('For mail from this own domain'),
  use: z
    .enum(['always', 'failover', 'never'])
    .default('always')
    .describe('failover: if a receiver refuses or port 25 is blocked; never: direct only'),
  host: Line(1, 253).describe('Hostname of the server').optional(),
  port: z.number().int().min(1).max(65_535).default(587).describe('TCP port'),
  tls: z.enum(['implicit', 'starttls']).optional().describe('Default: implicit on port 465, else starttls'),
  certificate: z.enum(['verified', 'any']).default('verified').describe('Accepted certificate'),
  username: Line(1, 255).describe('SMTP login').optional(),
  password: Line(1, 1024).optional().describe('Never shown again'),
});
type Given = z.output<typeof Input>;

export const setRoute = operation({
  name: 'set_outbound_route',
  title: 'Set an outbound route',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Sends mail of this organization through another server: all of it, mail to receiverDomain, or mail from senderDomain; the most specific route wins. Replaces an existing route. Logs in over TLS only; the password is encrypted and never shown. Waiting mail follows it.',
  hints: { idempotent: true, openWorld: true },
  rule: everyMailbox,
  outgoingTexts: (_call, { host = '' }) => [host],
  input: Input,
  output: z.object({ route: Shown }),
  rest: { method: 'POST', path: '/api/email/routes' },
  async run(call, given) {
    const scope = await scopeOf(call, given);
    const target = await targetOf(call, given);
    const ref = randomBytes(12).toString('base64url');
    const password = given.password === undefined ? null : sealPassword(call.secrets, ref, given.password);
    const row = { ref, tenant: call.tenant, ...scope, use: given.use, ...target, password };
    const name = scope.receiver || scope.sender || 'all mail';
    const detail = { use: given.use, host: target.host, port: target.port, username: target.username };
    const done = await call.change(setOutboundRoute, row, name, detail);
    if (done.kind === 'too-many') {
      return refuse('conflict', 'Limit reached: an organization has at most 100 routes. Remove one first.');
    }
    call.queueChanged();
    const made = (await routesOf(call)).find((one) => one.id === done.id);
    return made === undefined ? notFound('route') : { route: shown(call, made) };
  },
});

/** Parses the scope: one receiver domain, one own sender domain, or all mail. */
async function scopeOf(call: Call, given: Given): Promise<{ receiver: string; sender: string }> {
  const { receiverDomain, senderDomain } = given;
  if (receiverDomain !== undefined && senderDomain !== undefined) {
    return wrong('senderDomain', 'give receiverDomain or senderDomain, not both');
  }
  if (senderDomain !== undefined)
    return { receiver: '', sender: (await findOwnDomain(call, { domain: senderDomain })).name };
  const receiver = receiverDomain === undefined ? '' : parseDomain(receiverDomain);
  return receiver === undefined ? wrong('receiverDomain', 'is not a domain name') : { receiver, sender: '' };
}

async function targetOf(
  call: Call,
  { use, host, port, username, password, certificate, tls = port === 465 ? 'implicit' : 'starttls' }: Given,
): Promise<Pick<OutboundRoute, 'host' | 'port' | 'tls' | 'certificate' | 'username'>> {
  if (use === 'never') {
    if (host !== undefined) return wrong('host', 'is not allowed for a direct route: omit it');
    return { host: '', port: 0, tls, certificate, username: '' };
  }
  if (host === undefined) return wrong('host', 'is missing: the hostname of the smarthost');
  if ((username === undefined) !== (password === undefined)) {
    return wrong(username === undefined ? 'username' : 'password', 'is missing: a login needs both');
  }
  const checked = await checkSmarthostTarget({ host, port }, call.settings.allowPrivateNetworks, call.resolver);
  if ('problem' in checked) return wrong('host', checked.problem);
  return { host: checked.host, port, tls, certificate, username: username ?? '' };
}

function wrong(path: string, message: string): never {
  return refuse('invalid_arguments', `${path}: ${message}.`, { issues: [{ path, message }] });
}

export const listRoutes = operation({
  name: 'list_outbound_routes',
  title: 'List outbound routes',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  description:
    "Lists the outbound routes of this organization, and the server's default. `problem` is set when a smarthost rejects the login. Changes nothing.",
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({ routes: z.array(Shown), otherwise: z.string() }),
  rest: { method: 'GET', path: '/api/email/routes' },
  async run(call) {
    const { smarthost } = call.settings;
    const otherwise =
      smarthost === undefined
        ? 'directly to the mail servers of the receiver'
        : smarthost.use === 'always'
          ? 'by the smarthost of this server'
          : 'directly, and by the smarthost of this server if the receiver rejects it';
    return { routes: (await routesOf(call)).map((one) => shown(call, one)), otherwise };
  },
});

export const removeRoute = operation({
  name: 'remove_outbound_route',
  title: 'Remove an outbound route',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description: 'Removes one route and its password; its mail uses the other routes.',
  hints: { destructive: true, idempotent: true },
  rule: everyMailbox,
  input: z.strictObject({ routeId: Id('route') }),
  output: z.object({ removed: z.literal(true) }),
  rest: { method: 'DELETE', path: '/api/email/routes/:routeId' },
  async run(call, { routeId }) {
    const id = rowId('route', routeId) ?? notFound('route');
    const { kind } = await call.change(removeOutboundRoute, { tenant: call.tenant, id }, routeId);
    if (kind === 'missing') return notFound('route');
    call.queueChanged();
    return { removed: true as const };
  },
});

function routesOf({ store, tenant }: Call): Promise<OutboundRoute[]> {
  return store.read(outboundRoutes, { tenants: [tenant] });
}

function shown(call: Call, row: OutboundRoute): z.output<typeof Shown> {
  const to = row.use === 'never' ? null : row;
  return {
    routeId: publicId('route', row.id),
    receiverDomain: row.receiver === '' ? null : row.receiver,
    senderDomain: row.sender === '' ? null : row.sender,
    use: row.use,
    host: to?.host ?? null,
    port: to?.port ?? null,
    tls: to?.tls ?? null,
    certificate: to?.certificate ?? null,
    username: row.username === '' ? null : row.username,
    hasPassword: row.password !== null,
    problem: call.refusedLogins().find((one) => one.id === row.id)?.why ?? null,
    createdAt: isoOf(row.created_at),
  };
}
