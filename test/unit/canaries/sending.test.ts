import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { CanaryWorld, type PlantedCanary } from '../../support/canary-world.ts';

const sent = query('test-sent', (rx) =>
  rx.get<{ n: number }>('SELECT (SELECT count(*) FROM queue) + (SELECT count(*) FROM scheduled) AS n'),
);

let world: CanaryWorld;
let canary: PlantedCanary;
let token: number;
beforeEach(async () => {
  world = await CanaryWorld.open();
  canary = await world.plant();
  token = await world.mint();
});
afterEach(() => world[Symbol.asyncDispose]());

const MAIL = { from: 'me@a.test', to: 'you@x.example', subject: 'Hello', text: 'Hello' };
const send = (over: object) => world.asToken(token, 'send_email', { ...MAIL, ...over });
const left = async () => (await world.world.store.read(sent, undefined))?.n;
const hex = (text: string): string => Buffer.from(text).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('mail of an agent with the secret of a canary', () => {
  test.each<[string, (secret: string) => object]>([
    ['in the text', (secret) => ({ text: `It is ${secret}, as you asked` })],
    ['in the subject', (secret) => ({ subject: secret })],
    ['without its signs', (secret) => ({ text: secret.replaceAll('-', ' ').toUpperCase() })],
    ['backwards', (secret) => ({ text: secret.split('').toReversed().join('') })],
    ['in base64 of base64', (secret) => ({ text: base64(base64(secret)) })],
    ['in hexadecimal', (secret) => ({ text: hex(secret) })],
    ['as HTML with tags between', (secret) => ({ html: `<p>${secret.replaceAll(/(?=.)/g, '<b></b>')}</p>` })],
    ['only tried', (secret) => ({ text: secret, dryRun: true })],
  ])('%s does not leave, and its agent is frozen', async (_, over) => {
    const done = await send(over(canary.honeytoken));
    expect(done).toMatchObject({ kind: 'refused', refusal: { error: 'action_not_allowed' } });
    expect(JSON.stringify(done)).toContain('The agent is frozen and sends nothing');
    expect(JSON.stringify(done)).not.toMatch(/canary|secret|password/i);
    expect(await world.modeOf(token)).toBe('frozen');
    expect(await left()).toBe(0);
    const [row] = await world.audited();
    expect(JSON.parse(row?.detail ?? '')).toMatchObject({ what: 'sent', door: 'api', to: ['you@x.example'] });
  });

  test('is refused also when a person let the agent go on, and it is frozen again', async () => {
    await send({ text: canary.honeytoken });
    await world.asPerson('set_agent_mode', { tokenId: `tok_${token}`, mode: 'normal' });
    const again = await send({ text: `${canary.honeytoken}!` });
    expect(again).toMatchObject({ refusal: { error: 'action_not_allowed' } });
    expect(JSON.stringify(again)).not.toContain('canary');
    expect(await world.modeOf(token)).toBe('frozen');
    expect(await left()).toBe(0);
    expect(await world.audited()).toHaveLength(2);
  });

  test('that was removed goes', async () => {
    await world.asPerson('remove_canary', { canaryId: canary.canaryId });
    expect(await send({ text: canary.honeytoken })).toMatchObject({ kind: 'done' });
    expect(await world.modeOf(token)).toBe('normal');
  });

  test('of a person goes', async () => {
    expect(await world.asPerson('send_email', { ...MAIL, text: canary.honeytoken })).toMatchObject({ kind: 'done' });
    expect(await world.audited()).toEqual([]);
  });
});

describe('mail of an agent to the address of a canary', () => {
  test.each([
    ['as it is', (address: string) => address],
    ['in capitals', (address: string) => address.toUpperCase()],
    ['with a detail', (address: string) => address.replace('@', '+x@')],
  ])('%s does not leave', async (_, form) => {
    const done = await send({ bcc: form(canary.address) });
    expect(done).toMatchObject({ refusal: { error: 'action_not_allowed' } });
    expect(await world.modeOf(token)).toBe('frozen');
    expect(await left()).toBe(0);
  });

  test('without one goes', async () => {
    const { address, honeytoken } = await world.plant({ kind: 'secret' });
    expect(address).toBeNull();
    expect(await send({ to: 'other@x.example' })).toMatchObject({ kind: 'done' });
    expect(await send({ text: honeytoken })).toMatchObject({ kind: 'refused' });
  });
});

describe('what an agent sent before', () => {
  test('and has not left is held', async () => {
    expect(await send({})).toMatchObject({ kind: 'done' });
    await send({ text: canary.honeytoken });
    const held = await world.asPerson('list_queue', { state: 'held' });
    expect(held).toMatchObject({ result: { items: [{ to: 'you@x.example' }] } });
  });
});
