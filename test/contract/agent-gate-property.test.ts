import { expect, test } from 'vitest';
import type { AgentSending } from '../../mail/agents/gate/types.ts';
import { GateWorld, type Letter, outcomeOf } from '../support/gate-world.ts';
import { Random } from '../support/random.ts';

const HOUR = 3_600_000;
const PEOPLE = ['ann@x.test', 'bob@y.test', 'carol@z.test', 'evil@evil.test', 'dave@x.test'];
const ORGANIZATION = ['owner@home.test', 'me@box.test', 'me+tag@box.test'];
const TRUSTS = [
  { expected: true, trust: {} },
  { expected: true, trust: { verdict: 'suspicious' as const } },
  { expected: false, trust: { alignedFrom: false } },
  { expected: false, trust: { auth: { spf: 'pass', dkim: 'pass', dmarc: 'fail' } as const } },
  { expected: false, trust: null },
];

/** Independent record of the events, kept outside of the tested code. */
interface Truth {
  leakedAt: number | undefined;
  /** When mail to somebody left. */
  reached: Map<string, number>;
  /** Row, its thread's root, who wrote it, and whether that is proved. */
  letters: { row: number; root: string; author: string; proved: boolean; id: string }[];
}

/** Tests if the specification allows mail to this recipient at once. */
function allowed(truth: Truth, to: string, answers: number | null, allow: readonly string[]): boolean {
  if (ORGANIZATION.includes(to) || allow.includes(to)) return true;
  if (truth.leakedAt === undefined || (truth.reached.get(to) ?? Infinity) < truth.leakedAt) return true;
  const root = truth.letters.find(({ row }) => row === answers)?.root;
  return truth.letters.some((one) => one.root === root && one.author === to && one.proved);
}

test.each([1, 2, 3, 4])(
  'no mail of an exposed agent is taken for a stranger, whatever it does (seed %i)',
  async (seed) => {
    await using world = await GateWorld.open();
    const random = new Random(seed);
    const truth: Truth = { leakedAt: undefined, reached: new Map(), letters: [] };
    const seen = { taken: 0, held: 0 };

    const put = async (): Promise<void> => {
      const kind = random.one(TRUSTS);
      const before = truth.letters.length > 0 && random.chance(0.5) ? random.one(truth.letters) : undefined;
      const id = `n${truth.letters.length}@mail.test`;
      const author = random.one(PEOPLE);
      const letter: Letter = {
        from: author,
        id,
        trust: kind.trust,
        ...(random.chance(0.5) && { cc: random.one(PEOPLE) }),
        ...(random.chance(0.2) && { replyTo: random.one(PEOPLE) }),
        ...(before !== undefined && { answers: before.id }),
      };
      const row = await world.put(letter);
      truth.letters.push({ row, id, author, root: before?.root ?? id, proved: kind.expected });
    };

    const read = async (): Promise<void> => {
      if (truth.letters.length === 0) return;
      await world.read([random.one(truth.letters).row]);
      truth.leakedAt ??= world.box.clock.now;
    };

    const send = async (): Promise<void> => {
      const to = [
        ...new Set(Array.from({ length: random.one([1, 1, 2, 3]) }, () => random.one([...PEOPLE, ...ORGANIZATION]))),
      ];
      const answers = truth.letters.length > 0 && random.chance(0.6) ? random.one(truth.letters).row : null;
      const allow = random.chance(0.3) ? [random.one(PEOPLE)] : [];
      const agent: Partial<AgentSending> = { answers, ...world.policy({ allow }) };
      const done = await world.send(to, agent);
      if (done.kind === 'taken') {
        seen.taken++;
        const strangers = to.filter((one) => !allowed(truth, one, answers, allow));
        expect(strangers, `to ${to.join()} answering ${answers} at ${world.box.clock.now}`).toEqual([]);
        for (const one of to) if (!truth.reached.has(one)) truth.reached.set(one, world.box.clock.now);
      } else {
        seen.held++;
        // So many answers in one thread are a loop, whoever gets them.
        if (outcomeOf(done) === 'budget_exceeded answersInThread') return;
        expect(done.kind, outcomeOf(done)).toBe('waits');
        // Every hold explains itself, and names somebody of those who are written to.
        expect(done.kind === 'waits' ? done.reasons.flatMap(({ recipients = [] }) => recipients) : []).not.toEqual([]);
      }
    };

    for (let step = 0; step < 150; step++) {
      world.box.clock.now += random.one([1, 1000, HOUR / 60]);
      await random.one([put, read, send, send, send])();
    }
    expect(seen.taken).toBeGreaterThan(5);
    expect(seen.held).toBeGreaterThan(5);
  },
);
