import { command, lookup, type Row } from '../engine/types.ts';

/** Use of a route: always, when the receiver's servers refuse this server, or never (direct only). */
export type RouteUse = 'always' | 'failover' | 'never';

/** An outbound route of a tenant. At most one of `receiver` and `sender` is set; '' matches all. */
export interface OutboundRoute extends Row {
  id: number;
  /** Random id; the sealed password is bound to it. */
  ref: string;
  tenant: number;
  /** Destination domain, and domain of the envelope sender; A-labels. */
  receiver: string;
  sender: string;
  use: RouteUse;
  host: string;
  port: number;
  tls: 'implicit' | 'starttls';
  certificate: 'verified' | 'any';
  username: string;
  /** Sealed password; null: no login. */
  password: Uint8Array | null;
  created_at: number;
}

export type NewOutboundRoute = Pick<
  OutboundRoute,
  'ref' | 'tenant' | 'receiver' | 'sender' | 'use' | 'host' | 'port' | 'tls' | 'certificate' | 'username' | 'password'
>;

/** Limit of routes of a tenant. */
const MAX_ROUTES = 100;

/** Creates or replaces the route of one scope. Queued mail uses it from its next attempt. */
export const setOutboundRoute = command(
  'set-outbound-route',
  async (tx, input: NewOutboundRoute, stamp): Promise<{ kind: 'set'; id: number } | { kind: 'too-many' }> => {
    const there = await tx.get<{ n: number; same: number }>(
      `SELECT count(*) AS n, coalesce(sum(receiver = ? AND sender = ?), 0) AS same FROM outbound_route WHERE tenant = ?`,
      input.receiver,
      input.sender,
      input.tenant,
    );
    if ((there?.n ?? 0) >= MAX_ROUTES && there?.same === 0) return { kind: 'too-many' };
    const row = await tx.get<{ id: number }>(
      `INSERT INTO outbound_route (ref, tenant, receiver, sender, use, host, port, tls, certificate, username, password, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, receiver, sender) DO UPDATE SET ref = excluded.ref, use = excluded.use, host = excluded.host,
         port = excluded.port, tls = excluded.tls, certificate = excluded.certificate, username = excluded.username,
         password = excluded.password
       RETURNING id`,
      input.ref,
      input.tenant,
      input.receiver,
      input.sender,
      input.use,
      input.host,
      input.port,
      input.tls,
      input.certificate,
      input.username,
      input.password,
      stamp.now,
    );
    return { kind: 'set', id: row?.id ?? 0 };
  },
);

/** Deletes a route. Its queued mail follows the other routes. */
export const removeOutboundRoute = command(
  'remove-outbound-route',
  async (tx, input: { tenant: number; id: number }): Promise<{ kind: 'removed' | 'missing' }> => {
    const { changes } = await tx.run('DELETE FROM outbound_route WHERE id = ? AND tenant = ?', input.id, input.tenant);
    return { kind: changes === 1 ? 'removed' : 'missing' };
  },
);

export const outboundRoutes = lookup(
  'outbound-routes',
  (rx, input: { tenants: readonly number[] }): Promise<OutboundRoute[]> =>
    rx.all<OutboundRoute>(
      `SELECT id, ref, tenant, receiver, sender, use, host, port, tls, certificate, username, password, created_at
       FROM outbound_route WHERE tenant IN (SELECT value FROM json_each(?)) ORDER BY id`,
      JSON.stringify(input.tenants),
    ),
);

export const outboundRoute = lookup('outbound-route', (rx, input: { id: number }): Promise<OutboundRoute | undefined> =>
  rx.get<OutboundRoute>(
    `SELECT id, ref, tenant, receiver, sender, use, host, port, tls, certificate, username, password, created_at
       FROM outbound_route WHERE id = ?`,
    input.id,
  ),
);
