import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listQueue } from '../../../mail/store/queue/queue-rows.ts';
import { quiet } from '../../../mail/log.ts';
import { Notifier } from '../../../src/notices/notifier.ts';
import { newDevices } from '../../../src/people/device-commands.ts';
import { newDeviceNotices } from '../../../src/people/device-notice-source.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { PASSWORD, passwordPerson } from '../../support/factors.ts';
import { proveOwner } from '../../support/people.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36';

/** A person with a verified address, who signed in before. */
async function known(): Promise<Someone> {
  const person = await passwordPerson(box);
  await box.world.store.write(proveOwner, person.email);
  return person;
}

async function signIn({ email }: Someone, visitor = new Visitor(box.base), agent = CHROME): Promise<Visitor> {
  const done = await visitor.post('/login', { email, password: PASSWORD }, { 'user-agent': agent });
  expect(leads(done)).toBe('303 /');
  return visitor;
}

const due = async (email: string) =>
  (await box.world.store.read(newDevices, undefined)).filter((one) => one.email === email);

async function letterText(email: string): Promise<string> {
  const [device] = await due(email);
  const made = device && (await newDeviceNotices(box.world).compose(device));
  return new TextDecoder().decode(made?.notices[0]?.data);
}

/** Sends what is due. Returns how many letters wait for an address. */
async function sent(email: string): Promise<number> {
  const { store, queueChanged } = box.world;
  await new Notifier({
    sources: [newDeviceNotices(box.world)],
    queued: queueChanged,
    log: quiet,
    metrics: quiet,
  }).run();
  const rows = await store.read(listQueue, {
    tenant: null,
    accounts: null,
    state: null,
    domain: null,
    after: 0,
    limit: 1000,
  });
  return rows.filter(({ recipient }) => recipient === email).length;
}

describe('a sign-in', () => {
  test('from a new browser causes one letter, which names the browser and the address', async () => {
    const person = await known();
    const browser = await signIn(person);
    expect(await due(person.email)).toHaveLength(1);
    const text = await letterText(person.email);
    for (const said of ['Chrome on Windows', '127.0.0.1', 'the password alone', `${box.base}/account`])
      expect(text).toContain(said);
    expect(await sent(person.email)).toBe(1);
    await signIn(person, browser);
    expect(await due(person.email)).toEqual([]);
    expect(await sent(person.email)).toBe(1);
  });

  test('from the first browser of a person causes none', async () => {
    const person = await box.someone('member');
    expect(await due(person.email)).toEqual([]);
  });

  test('causes none while the address is not verified', async () => {
    const person = await passwordPerson(box);
    await signIn(person);
    expect(await due(person.email)).toEqual([]);
  });

  test('causes none for people who turned the letters off, until they turn them on', async () => {
    const person = await known();
    const security = '/account/security';
    expect(leads(await person.visitor.act(security, 'notices', { on: 'no' }))).toBe(`303 ${security}?done=notices`);
    await signIn(person);
    expect(await due(person.email)).toEqual([]);
    await person.visitor.act(security, 'notices', { on: 'yes' });
    await signIn(person);
    expect(await due(person.email)).toHaveLength(1);
  });

  test('puts no text of the browser into the letter', async () => {
    const person = await known();
    await signIn(person, undefined, 'call 0800 or open http://evil.example now');
    const text = await letterText(person.email);
    expect(text).toContain('Browser: unknown');
    expect(text).not.toContain('evil.example');
  });

  test('by many new browsers causes five letters a day', async () => {
    const person = await known();
    for (let i = 0; i < 7; i++) await signIn(person);
    expect(await sent(person.email)).toBe(5);
    expect(await due(person.email)).toEqual([]);
  });

  test('with the cookie of somebody else is a new browser', async () => {
    const [one, two] = [await known(), await known()];
    const browser = await signIn(one);
    await signIn(two, browser);
    expect(await due(two.email)).toHaveLength(1);
  });
});
