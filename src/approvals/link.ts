import { createHmac, timingSafeEqual } from 'node:crypto';
import { publicId, rowId } from '../ids.ts';
import { secretUrl } from '../letters/secret-pages.ts';
import type { World } from '../operations/world.ts';
import { approver, type Approver, sealOfApproval } from './queries.ts';

/** Octets of the MAC that a link carries. */
const MAC_OCTETS = 24;

/** What the URL of a link says. */
export interface ApprovalLink {
  id: string;
  user: string;
  token: string;
}

type Ground = Pick<World, 'store' | 'secrets'>;

/**
 * The link by which one owner decides about one message without signing in. It is for these octets, this envelope and
 * this person, and opens nothing once somebody has decided. Only ever mailed to an address outside of this box: what
 * arrives here an agent may be able to read.
 */
export async function approvalLink(
  world: Ground & Pick<World, 'baseUrl'>,
  { id, user }: { id: number; user: number },
): Promise<string | undefined> {
  const found = await world.store.read(sealOfApproval, { id });
  if (found === undefined) return undefined;
  const token = macOf(world, { id, user, seal: found.seal }).toString('hex');
  return secretUrl(world.baseUrl, 'approve', { id: publicId('outbox', id), user: publicId('user', user), token });
}

/** What a link opens, if it is one of ours and its person is an owner still. */
export async function openLink(
  world: Ground,
  link: ApprovalLink,
): Promise<{ id: number; tenant: number; approver: Approver } | undefined> {
  const [id, user] = [rowId('outbox', link.id), rowId('user', link.user)];
  if (id === undefined || user === undefined || !/^[0-9a-f]{48}$/.test(link.token)) return undefined;
  const found = await world.store.read(sealOfApproval, { id });
  // A MAC is made for what does not exist too: it takes the same time.
  const mac = macOf(world, { id, user, seal: found?.seal ?? '' });
  if (!timingSafeEqual(mac, Buffer.from(link.token, 'hex')) || found === undefined) return undefined;
  const person = await world.store.read(approver, { organization: found.tenant, user });
  return person && { id, tenant: found.tenant, approver: person };
}

function macOf({ secrets }: Ground, { id, user, seal }: { id: number; user: number; seal: string }): Buffer {
  const key = secrets.subkey('approval links');
  return createHmac('sha256', key).update(`${id}.${user}.${seal}`).digest().subarray(0, MAC_OCTETS);
}
