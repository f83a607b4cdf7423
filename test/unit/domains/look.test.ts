import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { purgeKeys, GRACE_MS, setManaged } from '../../../src/domains/commands.ts';
import { checkDomain, updateManaged, nameServersOf } from '../../../src/domains/look.ts';
import { keysInMotion, managedDomain, publishedKeys } from '../../../src/domains/queries.ts';
import { ownServer } from '../../../src/domains/records.ts';
import { dsTextOf } from '../../../src/domains/zone-keys.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { applyManagedDns, exportZone, rotateDkimKeys } from '../../../src/operations/domains/dns.ts';
import { removeEmailDomain } from '../../../src/operations/domains/remove.ts';
import { verifyEmailDomain } from '../../../src/operations/domains/verify.ts';
import { calls, type Calls } from '../../support/calls.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const HOST = 'mail.box.example';
let box: Calls;
let zone: FakeZone;
/** The name servers of domains in the zones above; those that are not here could not be learned. */
let above: Record<string, string[]>;

async function start(settings: { live: boolean; dns: boolean }): Promise<void> {
  zone = { [`A ${HOST}`]: ['192.0.2.10'] };
  const dns = fakeResolver(zone);
  above = {};
  const parents = (domain: string): Promise<string[] | undefined> => Promise.resolve(above[domain]);
  const ports = { dns: settings.dns ? { port: 53 } : undefined } as never;
  box = await calls({ lookNow: dns, resolver: dns, parents, settings: { live: settings.live, hostname: HOST, ports } });
}
afterEach(() => box[Symbol.asyncDispose]());

interface Added {
  domain: { id: string; dnsManaged: boolean };
  records: { type: string; name: string; value: string; priority?: number }[];
}

const idOf = (added: Added): number => Number(added.domain.id.slice(4));
async function add(caller: Caller, name: string): Promise<Added> {
  return box.done<Added>(caller, addEmailDomain, { domain: name });
}
/** Publishes the requested records in the zone; TXT and MX only. */
function publish({ records }: Added): void {
  for (const { type, name, value, priority } of records) {
    zone[`${type} ${name}`] = [priority === undefined ? value : `${priority} ${value}`];
  }
}
const context = () => ({ ...box.world, write: box.world.store.write.bind(box.world.store) });

describe('names that nobody can own', () => {
  test('are taken as they are in local mode, without asking anybody', async () => {
    await start({ live: false, dns: false });
    const owner = await box.organization('Local');
    for (const name of ['shop.test', 'shop.example', 'shop.invalid', 'shop.localhost']) {
      await add(owner, name);
      expect(await box.done(owner, verifyEmailDomain, { domain: name })).toMatchObject({ verified: true });
    }
    expect((box.world.lookNow as ReturnType<typeof fakeResolver>).queried).toEqual([]);
  });

  test('and no other ones', async () => {
    await start({ live: false, dns: false });
    const owner = await box.organization('Local');
    for (const name of ['example.com', 'shop.test.com', 'latest.org', 'shoptest.de']) {
      await add(owner, name);
      expect(await box.done(owner, verifyEmailDomain, { domain: name })).toMatchObject({ verified: false });
    }
  });

  test('have to be proved in live mode like every name', async () => {
    await start({ live: true, dns: false });
    const owner = await box.organization('Live');
    await add(owner, 'shop.example');
    expect(await box.done(owner, verifyEmailDomain, { domain: 'shop.example' })).toMatchObject({ verified: false });
  });
});

describe('two claims of one name', () => {
  beforeEach(() => start({ live: true, dns: false }));

  test('are no hindrance to each other, and the one that is proved has it', async () => {
    const [squatter, owner] = [await box.organization('Squatter'), await box.organization('Owner')];
    const theirs = await add(squatter, 'fought.example');
    const mine = await add(owner, 'fought.example');
    publish(mine);
    expect(await box.done(squatter, verifyEmailDomain, { domain: 'fought.example' })).toMatchObject({
      verified: false,
    });
    expect(await box.done(owner, verifyEmailDomain, { domain: 'fought.example' })).toMatchObject({ verified: true });
    publish(theirs);
    const late = await box.refused(squatter, verifyEmailDomain, { domain: 'fought.example' });
    expect(late).toMatchObject({ error: 'conflict' });
    expect(await box.rows('SELECT state FROM domain ORDER BY id')).toEqual([{ state: 0 }, { state: 1 }]);
  });

  test('removed and added again, a domain has to be proved anew, with other keys', async () => {
    const owner = await box.organization('Owner');
    publish(await add(owner, 'again.example'));
    await box.done(owner, verifyEmailDomain, { domain: 'again.example' });
    await box.done(owner, removeEmailDomain, { domain: 'again.example' });
    const second = await add(owner, 'again.example');
    expect(await box.done(owner, verifyEmailDomain, { domain: 'again.example' })).toMatchObject({ verified: false });
    expect(await box.rows(`SELECT count(*) AS n FROM dkim_key WHERE domain_id <> ${idOf(second)}`)).toEqual([{ n: 0 }]);
  });

  test('twenty verifications at once by both sides leave one owner', async () => {
    const [one, two] = [await box.organization('One'), await box.organization('Two')];
    const claims = [await add(one, 'race.example'), await add(two, 'race.example')];
    publish(claims[0]!);
    const texts = claims.flatMap(({ records }) => records.filter((each) => each.name.startsWith('ms1.')));
    zone['TXT ms1._domainkey.race.example'] = texts.map((each) => each.value);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        box.perform([one, two][i % 2]!, verifyEmailDomain, { domain: 'race.example' }),
      ),
    );
    expect(await box.rows('SELECT count(*) AS n FROM domain WHERE state = 1')).toEqual([{ n: 1 }]);
  });

  test('adding a name twenty times at once gives one claim with one pair of keys', async () => {
    const owner = await box.organization('Owner');
    const all = await Promise.all(Array.from({ length: 20 }, () => add(owner, 'Many.Example')));
    expect(new Set(all.map((one) => one.domain.id)).size).toBe(1);
    expect(new Set(all.map((one) => JSON.stringify(one.records))).size).toBe(1);
    expect(await box.rows('SELECT selector FROM dkim_key ORDER BY selector')).toEqual([
      { selector: 'ms1' },
      { selector: 'ms2' },
    ]);
  });
});

describe('name servers that lead here', () => {
  beforeEach(() => start({ live: true, dns: true }));

  test('a domain is served when they have the box’s name, or the name of the claim', async () => {
    const owner = await box.organization('Owner');
    zone['NS led.example'] = ['ns.other.example', HOST];
    expect((await add(owner, 'led.example')).domain.dnsManaged).toBe(true);
    const other = await add(owner, 'own.example');
    expect(other.domain.dnsManaged).toBe(false);
    zone['NS own.example'] = [ownServer(idOf(other), HOST)];
    expect(await box.done(owner, applyManagedDns, { domain: 'own.example' })).toMatchObject({ managed: true });
    zone['NS own.example'] = ['ns.other.example'];
    expect(await box.done(owner, applyManagedDns, { domain: 'own.example' })).toMatchObject({ managed: false });
  });

  test('a DNS that does not answer changes nothing', async () => {
    const owner = await box.organization('Owner');
    zone['NS led.example'] = [HOST];
    await add(owner, 'led.example');
    zone['NS led.example'] = 'trouble';
    expect(await box.done(owner, applyManagedDns, { domain: 'led.example' })).toMatchObject({ managed: true });
  });

  test.each(['mail.box.example', 'box.example', 'example'])(
    'a zone that holds the box’s own name is not served: %s',
    async (name) => {
      zone[`NS ${name}`] = [HOST];
      expect(await nameServersOf(box.world, { id: 1, name, managed: false })).toEqual({
        delegation: 'none',
        observed: [],
      });
    },
  );

  test('a name that only ends alike may be served', async () => {
    zone['NS xbox.example'] = [HOST];
    expect(await nameServersOf(box.world, { id: 1, name: 'xbox.example', managed: false })).toMatchObject({
      delegation: 'box',
    });
  });

  test('of two claims that are not proved, the box’s name decides nothing, and the claim’s own name does', async () => {
    const [first, second] = [await box.organization('First'), await box.organization('Second')];
    const one = await add(first, 'fought.example');
    const two = await add(second, 'fought.example');
    zone['NS fought.example'] = [HOST];
    for (const caller of [second, first]) {
      expect(await box.done(caller, applyManagedDns, { domain: 'fought.example' })).toMatchObject({ managed: false });
    }
    zone['NS fought.example'] = [HOST, ownServer(idOf(two), HOST)];
    expect(await box.done(first, applyManagedDns, { domain: 'fought.example' })).toMatchObject({ managed: false });
    expect(await box.done(second, applyManagedDns, { domain: 'fought.example' })).toMatchObject({ managed: true });
    expect(await box.world.store.read(managedDomain, { name: 'fought.example' })).toEqual({
      id: idOf(two),
      delegation: 'both',
    });
    zone['NS fought.example'] = [ownServer(idOf(one), HOST)];
    expect(await box.done(first, applyManagedDns, { domain: 'fought.example' })).toMatchObject({ managed: true });
    expect(await box.rows('SELECT managed FROM domain_setup ORDER BY domain_id')).toEqual([
      { managed: 2 },
      { managed: 0 },
    ]);
  });

  test('whoever is served already goes on being served when another one claims the name', async () => {
    const [first, second] = [await box.organization('First'), await box.organization('Second')];
    zone['NS led.example'] = [HOST];
    const one = await add(first, 'led.example');
    expect((await add(second, 'led.example')).domain.dnsManaged).toBe(false);
    expect(await box.world.store.read(managedDomain, { name: 'led.example' })).toEqual({
      id: idOf(one),
      delegation: 'box',
    });
  });

  test('a claim of another tenant is never served over one that is proved', async () => {
    const [owner, thief] = [await box.organization('Owner'), await box.organization('Thief')];
    const mine = await add(owner, 'proved.example');
    await box.run('UPDATE domain SET state = 1 WHERE id = ?', idOf(mine));
    const theirs = await add(thief, 'proved.example');
    zone['NS proved.example'] = [ownServer(idOf(theirs), HOST)];
    expect(await box.done(thief, applyManagedDns, { domain: 'proved.example' })).toMatchObject({ managed: false });
    for (const delegation of ['own', 'box'] as const) {
      expect(await box.world.store.write(setManaged, { id: idOf(theirs), delegation })).toEqual({ kind: 'unmanaged' });
    }
  });
});

describe('what the zone above says', () => {
  let owner: Caller;
  beforeEach(async () => {
    await start({ live: true, dns: true });
    owner = await box.organization('Owner');
  });
  const apply = (who: Caller, domain: string) => box.done(who, applyManagedDns, { domain });
  const kept = () => box.rows('SELECT managed FROM domain_setup ORDER BY domain_id');

  test('makes a domain served that a resolver cannot ask for, as its server refuses until then', async () => {
    zone['NS led.example'] = 'trouble';
    expect((await add(owner, 'led.example')).domain.dnsManaged).toBe(false);
    above['led.example'] = ['ns.other.example', HOST];
    expect(await apply(owner, 'led.example')).toMatchObject({
      managed: true,
      nameServers: ['ns.other.example', HOST],
    });
  });

  test('is not asked for a domain that is elsewhere for sure', async () => {
    zone['NS led.example'] = ['ns.other.example'];
    above['led.example'] = [HOST];
    expect((await add(owner, 'led.example')).domain.dnsManaged).toBe(false);
  });

  test('goes before what a resolver says, which may have been answered by this box itself', async () => {
    zone['NS led.example'] = [HOST];
    await add(owner, 'led.example');
    above['led.example'] = ['ns.other.example'];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: false, nameServers: ['ns.other.example'] });
    above['led.example'] = [HOST];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: true });
    above['led.example'] = [];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: false });
  });

  test('is needed to believe that a served domain has no name servers at all', async () => {
    above['led.example'] = [HOST];
    zone['NS led.example'] = 'trouble';
    await add(owner, 'led.example');
    delete above['led.example'];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: true });
    delete zone['NS led.example'];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: true });
    zone['NS led.example'] = ['ns.other.example'];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: false });
  });

  test('decides under which names the domain is served, also when they change', async () => {
    const own = ownServer(idOf(await add(owner, 'led.example')), HOST);
    zone['NS led.example'] = 'trouble';
    for (const [names, delegation] of [
      [[HOST], 'box'],
      [[own, HOST], 'both'],
      [[own], 'own'],
    ] as const) {
      above['led.example'] = [...names];
      await apply(owner, 'led.example');
      expect(await box.world.store.read(managedDomain, { name: 'led.example' })).toMatchObject({ delegation });
    }
  });

  test('is never overruled by an earlier claim: whose own server it names is served, at its first look', async () => {
    const squatter = await box.organization('Squatter');
    zone['NS led.example'] = [HOST];
    expect((await add(squatter, 'led.example')).domain.dnsManaged).toBe(true);
    const mine = await add(owner, 'led.example');
    // The resolver got its answer from the box, which serves the earlier claim.
    above['led.example'] = [ownServer(idOf(mine), HOST), HOST];
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: true });
    expect(await kept()).toEqual([{ managed: 0 }, { managed: 3 }]);
    for (const who of [squatter, owner, squatter]) await apply(who, 'led.example');
    expect(await kept()).toEqual([{ managed: 0 }, { managed: 3 }]);
  });

  test.each([0, 1])('ends an earlier claim in state %i at its own look too', async (state) => {
    const squatter = await box.organization('Squatter');
    zone['NS led.example'] = [HOST];
    const theirs = await add(squatter, 'led.example');
    await box.run('UPDATE domain SET state = ? WHERE id = ?', state, idOf(theirs));
    const mine = await add(owner, 'led.example');
    above['led.example'] = [HOST, ownServer(idOf(mine), HOST)];
    await box.perform(squatter, verifyEmailDomain, { domain: 'led.example' });
    expect(await kept()).toEqual([{ managed: 0 }, { managed: 0 }]);
  });

  test('is asked for in the notes, with the name that means this claim first', async () => {
    const added = await box.done<Added & { notes: string[] }>(owner, addEmailDomain, { domain: 'led.example' });
    const own = ownServer(idOf(added), HOST);
    const texts = added.notes.filter((note) => note.includes(own) || note.includes(`use ${HOST} as the second`));
    expect(texts).toHaveLength(2);
    expect(texts[0]).toContain(`make ${own} the name server of led.example`);
    const told = await apply(owner, 'led.example');
    expect(told).toMatchObject({ managed: false, wantedNameServers: [own, HOST] });
    expect(told['next']).toContain(`Set the name server of led.example to ${own}`);
  });

  test('and what is to be done is reported by what was seen', async () => {
    const next = async (who: Caller) => (await apply(who, 'led.example'))['next'];
    const own = ownServer(idOf(await add(owner, 'led.example')), HOST);
    const set = `Set the name server of led.example to ${own} at its registrar`;
    expect(await next(owner)).toMatch(new RegExp(`^${set}`));
    zone['NS led.example'] = 'trouble';
    expect(await next(owner)).toMatch(/^DNS lookup failed for the name servers of led\.example/);
    const other = await box.organization('Other');
    const theirs = await add(other, 'led.example');
    above['led.example'] = [HOST];
    expect(await next(owner)).toBe(
      `${HOST} alone does not identify the organization. ${set}, with ${HOST} as the second if two are required; then call this again.`,
    );
    above['led.example'] = [own];
    await box.run('UPDATE domain SET state = 1 WHERE id = ?', idOf(theirs));
    expect(await next(owner)).toMatch(/^Another organization of this server has verified led\.example/);
    await box.run('UPDATE domain SET state = 0 WHERE id = ?', idOf(theirs));
    expect(await next(owner)).toMatch(/^This server answers for the domain/);
  });

  test('a domain that is served here shows its DS record for the zone above', async () => {
    const own = ownServer(idOf(await add(owner, 'led.example')), HOST);
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: false, ds: null });
    zone['NS led.example'] = 'trouble';
    above['led.example'] = [own];
    const ds = dsTextOf(box.world.secrets, 'led.example');
    expect(ds).toMatch(/^\d{1,5} 13 2 [0-9A-F]{64}$/);
    expect(await apply(owner, 'led.example')).toMatchObject({ managed: true, ds });
    const { zone: text } = await box.done<{ zone: string }>(owner, exportZone, { domain: 'led.example' });
    expect(text).toContain(`; led.example. IN DS ${ds}\n`);
  });
});

describe('keys that change', () => {
  let owner: Caller;
  let added: Added;
  beforeEach(async () => {
    await start({ live: true, dns: false });
    owner = await box.organization('Owner');
    added = await add(owner, 'd.example');
    publish(added);
    await box.done(owner, verifyEmailDomain, { domain: 'd.example' });
  });
  const signing = async () => (await box.world.keys.of('d.example')).map((key) => key.selector);
  const states = async () =>
    Object.fromEntries(
      (await box.world.store.read(publishedKeys, { domain: idOf(added) })).map((key) => [key.selector, key.state]),
    );

  test('wait until they are seen, sign then at once, and the old ones stay for a week', async () => {
    expect(await signing()).toEqual(['ms1', 'ms2']);
    const rotated = await box.done<Added & { selectors: string[] }>(owner, rotateDkimKeys, { domain: 'd.example' });
    expect(rotated.selectors).toEqual(['ms3', 'ms4']);
    expect(await signing()).toEqual(['ms1', 'ms2']);
    const [third, fourth] = ['ms3', 'ms4'].map((selector) =>
      rotated.records.filter((one) => one.name.startsWith(selector)),
    );
    publish({ ...rotated, records: third ?? [] });
    expect(await box.done(owner, verifyEmailDomain, { domain: 'd.example' })).toMatchObject({ changed: true });
    // The other algorithm goes on with its old key.
    expect(await signing()).toEqual(['ms3', 'ms2']);
    publish({ ...rotated, records: fourth ?? [] });
    await box.done(owner, verifyEmailDomain, { domain: 'd.example' });
    expect(await signing()).toEqual(['ms3', 'ms4']);
    expect(await states()).toEqual({ ms1: 'retired', ms2: 'retired', ms3: 'signs', ms4: 'signs' });
    expect(await box.refused(owner, rotateDkimKeys, { domain: 'd.example' })).toMatchObject({ error: 'conflict' });

    const { store } = box.world;
    box.test.store.clock.now += GRACE_MS - 1;
    await store.write(purgeKeys, { domain: idOf(added) });
    expect(Object.keys(await states())).toHaveLength(4);
    box.test.store.clock.now += 1;
    expect(await store.read(keysInMotion, { retiredBefore: box.world.clock() - GRACE_MS })).toHaveLength(1);
    await store.write(purgeKeys, { domain: idOf(added) });
    expect(await states()).toEqual({ ms3: 'signs', ms4: 'signs' });
    expect(await box.done(owner, rotateDkimKeys, { domain: 'd.example' })).toMatchObject({ selectors: ['ms1', 'ms2'] });
  });

  test('a domain whose record holds only the replaced key fails its check', async () => {
    const rotated = await box.done<Added>(owner, rotateDkimKeys, { domain: 'd.example' });
    publish(rotated);
    await box.done(owner, verifyEmailDomain, { domain: 'd.example' });
    for (const selector of ['ms3', 'ms4']) zone[`TXT ${selector}._domainkey.d.example`] = [];
    const looked = await checkDomain(context(), { id: idOf(added), name: 'd.example' });
    expect(looked.verdict).toBe('fail');
  });

  test('a removed domain signs nothing from then on', async () => {
    expect(await signing()).toEqual(['ms1', 'ms2']);
    await box.done(owner, removeEmailDomain, { domain: 'd.example' });
    expect(await signing()).toEqual([]);
  });

  test('a domain that is removed during a look stays removed', async () => {
    const domain = { id: idOf(added), name: 'd.example' };
    const looking = checkDomain(context(), domain);
    const managing = updateManaged(context(), domain);
    await box.done(owner, removeEmailDomain, { domain: 'd.example' });
    await Promise.all([looking, managing]);
    for (const table of ['domain', 'dkim_key', 'domain_setup']) {
      expect(await box.rows(`SELECT count(*) AS n FROM ${table}`), table).toEqual([{ n: 0 }]);
    }
  });
});
