import { expect } from 'vitest';
import { jmapStates } from '../../mail/store/account/type-state.ts';
import { Actions } from './jmap-actions.ts';
import { type ExpectedObjects, readExpectedObjects } from './jmap-oracle.ts';
import { type JmapFixture, createJmapFixture } from './jmap-fixture.ts';
import { Random } from './random.ts';

const CLIENTS = 5;

type ObjectType = keyof ExpectedObjects;
const TYPES: readonly ObjectType[] = ['Email', 'Thread', 'Mailbox'];

interface Copy {
  state: string;
  objects: Map<string, Record<string, unknown>>;
}

/** A client's cache of each type. */
type Client = Record<ObjectType, Copy>;

interface Reported extends Record<string, unknown> {
  newState: string;
  hasMoreChanges: boolean;
  created: string[];
  updated: string[];
  destroyed: string[];
  updatedProperties?: string[] | null;
}

/** A changing account and its simulated clients. */
class Model {
  readonly fixture: JmapFixture;
  readonly random: Random;
  readonly actions: Actions;
  readonly seen = { changes: 0, parts: 0, startedAgain: 0 };

  constructor(fixture: JmapFixture, random: Random) {
    this.fixture = fixture;
    this.random = random;
    this.actions = new Actions(fixture, random);
  }

  async fresh(type: ObjectType): Promise<Copy> {
    const truth = await readExpectedObjects(this.fixture);
    const { state } = await this.fixture.call(`${type}/get`, { ids: [] });
    return { state: state as string, objects: truth[type] };
  }

  async client(): Promise<Client> {
    return { Email: await this.freshEmail(), Thread: await this.fresh('Thread'), Mailbox: await this.fresh('Mailbox') };
  }

  /** Skips Email/get: a thread has the state of its emails. */
  async freshEmail(): Promise<Copy> {
    return { ...(await this.fresh('Thread')), objects: (await readExpectedObjects(this.fixture)).Email };
  }

  /** Updates a cache and compares it with the store. */
  async sync(client: Client, type: ObjectType): Promise<void> {
    const copy = client[type];
    for (;;) {
      const maxChanges = this.random.chance(0.5) ? null : 1 + this.random.below(12);
      const told = await this.changes(type, copy.state, maxChanges);
      if (told === undefined) {
        client[type] = type === 'Email' ? await this.freshEmail() : await this.fresh(type);
        return;
      }
      const truth = (await readExpectedObjects(this.fixture))[type];
      this.apply(type, copy, told, truth, maxChanges);
      if (!told.hasMoreChanges) {
        expect(sorted(copy.objects), type).toEqual(sorted(truth));
        return;
      }
      if (this.random.chance(0.3)) await this.actions.one();
    }
  }

  async changes(type: ObjectType, sinceState: string, maxChanges: number | null): Promise<Reported | undefined> {
    const [answer] = (
      await this.fixture.request([
        [`${type}/changes`, { accountId: this.fixture.accountId, sinceState, maxChanges }, 'c'],
      ])
    ).methodResponses;
    const [name, told] = answer ?? [];
    if (name === 'error') {
      expect(told).toMatchObject({ type: 'cannotCalculateChanges' });
      this.seen.startedAgain++;
      return undefined;
    }
    expect(told).toMatchObject({ oldState: sinceState });
    return told as Reported;
  }

  apply(type: ObjectType, copy: Copy, told: Reported, truth: Copy['objects'], maxChanges: number | null): void {
    const { created, updated, destroyed, newState, hasMoreChanges, updatedProperties } = told;
    const all = [...created, ...updated, ...destroyed];
    expect(new Set(all).size, 'no id is told twice').toBe(all.length);
    if (maxChanges !== null) expect(all.length).toBeLessThanOrEqual(maxChanges);
    if (hasMoreChanges) expect(newState, 'progress').not.toBe(copy.state);
    this.seen.changes += all.length;
    this.seen.parts += Number(hasMoreChanges);
    for (const id of updated) expect(copy.objects.has(id), `${type} ${id} is updated and was never told`).toBe(true);
    for (const id of [...created, ...updated]) {
      const now = truth.get(id);
      if (now === undefined) throw new Error(`${type} ${id} is told and not there`);
      copy.objects.set(id, updated.includes(id) ? merge(copy.objects.get(id), now, updatedProperties ?? null) : now);
    }
    for (const id of destroyed) {
      expect(truth.has(id), `${type} ${id} is told to be destroyed and is there`).toBe(false);
      copy.objects.delete(id);
    }
    copy.state = newState;
  }

  /** Checks counters against counted rows, and threads against /get. */
  async check(): Promise<void> {
    const truth = await readExpectedObjects(this.fixture);
    const mailboxes = (await this.fixture.call('Mailbox/get'))['list'] as { id: string; myRights?: unknown }[];
    const told = mailboxes.map(({ id, myRights: _, ...rest }) => [id, rest] as const);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(truth.Mailbox));
    const ids = [...truth.Thread.keys()].slice(0, 500);
    const { list } = await this.fixture.call('Thread/get', { ids });
    expect(list).toEqual(ids.map((id) => ({ id, ...truth.Thread.get(id) })));
  }

  /** Checks that the state changes if the objects changed. */
  async step(): Promise<void> {
    const watched = this.random.chance(0.2);
    const before = watched
      ? { truth: await readExpectedObjects(this.fixture), states: await this.states() }
      : undefined;
    await this.actions.one();
    if (before === undefined) return;
    const [truth, states] = [await readExpectedObjects(this.fixture), await this.states()];
    for (const type of TYPES) {
      const same = JSON.stringify([...before.truth[type]]) === JSON.stringify([...truth[type]]);
      if (!same) expect(states[type], `${type} changed`).toBeGreaterThan(before.states[type]);
      else expect(states[type]).toBeGreaterThanOrEqual(before.states[type]);
    }
  }

  states(): Promise<Record<string, number> & Record<ObjectType, number>> {
    return this.fixture.box.store.read(jmapStates, { account: this.fixture.account });
  }
}

function merge(
  old: Record<string, unknown> | undefined,
  now: Record<string, unknown>,
  properties: readonly string[] | null,
): Record<string, unknown> {
  if (properties === null) return now;
  return { ...old, ...Object.fromEntries(properties.map((name) => [name, now[name]])) };
}

const sorted = (objects: Copy['objects']): Record<string, unknown> =>
  Object.fromEntries([...objects].toSorted(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Runs the model: clients with any old state update their caches by /changes, in responses of any size and with
 * concurrent changes, and then have the present objects.
 */
export async function runModel(seed: number, steps: number): Promise<Model['seen']> {
  await using fixture = await createJmapFixture();
  const random = new Random(seed);
  const model = new Model(fixture, random);
  const clients = [await model.client()];
  for (let step = 0; step < steps; step++) {
    await model.step();
    if (random.chance(0.05)) await model.check();
    if (clients.length < CLIENTS && random.chance(0.1)) clients.push(await model.client());
    if (random.chance(0.12)) await model.sync(random.one(clients), random.one(TYPES));
  }
  for (const client of clients) for (const type of TYPES) await model.sync(client, type);
  await model.check();
  expect(fixture.box.fatal).toEqual([]);
  return model.seen;
}
