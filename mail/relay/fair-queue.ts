import type { Group } from './groups.ts';

/** Groups that wait, handed out in turn: tenant after tenant, and of each tenant sender after sender. */
export class FairQueue {
  readonly #tenants = new Map<number, Map<number, Group[]>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Whose turn comes next. */
  get tenant(): number | undefined {
    return this.#tenants.keys().next().value;
  }

  push(group: Group): void {
    const [{ tenant, owner }] = group;
    const senders = this.#tenants.get(tenant) ?? new Map<number, Group[]>();
    this.#tenants.set(tenant, senders);
    const groups = senders.get(owner);
    if (groups === undefined) senders.set(owner, [group]);
    else groups.push(group);
    this.#length += 1;
  }

  /** At most so many, in turn. */
  take(most: number): Group[] {
    const out: Group[] = [];
    while (out.length < most) {
      const group = this.#shift();
      if (group === undefined) break;
      out.push(group);
    }
    return out;
  }

  #shift(): Group | undefined {
    const [turn] = this.#tenants;
    if (turn === undefined) return undefined;
    const [tenant, senders] = turn;
    const [first] = senders;
    if (first === undefined) return undefined;
    const [owner, groups] = first;
    const group = groups.shift();
    toTheEnd(senders, owner, groups, groups.length > 0);
    toTheEnd(this.#tenants, tenant, senders, senders.size > 0);
    this.#length -= 1;
    return group;
  }
}

/** Maps keep the order in which keys came: who had a turn comes last, who has nothing more goes. */
function toTheEnd<V>(map: Map<number, V>, key: number, value: V, stays: boolean): void {
  map.delete(key);
  if (stays) map.set(key, value);
}
