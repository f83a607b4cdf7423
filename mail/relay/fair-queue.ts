import type { RecipientGroup } from './recipient-groups.ts';

/** Waiting groups in round-robin order of tenants, and of senders within a tenant. */
export class FairQueue {
  readonly #tenants = new Map<number, Map<number, RecipientGroup[]>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Tenant of the next group. */
  get tenant(): number | undefined {
    return this.#tenants.keys().next().value;
  }

  push(group: RecipientGroup): void {
    const [{ tenant, owner }] = group;
    const senders = this.#tenants.get(tenant) ?? new Map<number, RecipientGroup[]>();
    this.#tenants.set(tenant, senders);
    const groups = senders.get(owner);
    if (groups === undefined) senders.set(owner, [group]);
    else groups.push(group);
    this.#length += 1;
  }

  /** Takes at max `max` groups. */
  take(max: number): RecipientGroup[] {
    const out: RecipientGroup[] = [];
    while (out.length < max) {
      const group = this.#shift();
      if (group === undefined) break;
      out.push(group);
    }
    return out;
  }

  #shift(): RecipientGroup | undefined {
    const [turn] = this.#tenants;
    if (turn === undefined) return undefined;
    const [tenant, senders] = turn;
    const [first] = senders;
    if (first === undefined) return undefined;
    const [owner, groups] = first;
    const group = groups.shift();
    moveToEnd(senders, owner, groups, groups.length > 0);
    moveToEnd(this.#tenants, tenant, senders, senders.size > 0);
    this.#length -= 1;
    return group;
  }
}

/** Moves a key to the end of the insertion order, or deletes it. */
function moveToEnd<V>(map: Map<number, V>, key: number, value: V, stays: boolean): void {
  map.delete(key);
  if (stays) map.set(key, value);
}
