import { readPlaces, readRows, type Facts } from './facts.ts';
import { type Condition, type Filter, isOperator, type Operator } from './filter.ts';
import { headerHas } from './header-test.ts';
import { keywordHeld, keywordInThread } from './keyword-test.ts';
import type { Scene } from './scene.ts';
import { type TextGroup, TextTest } from './text-test.ts';

/** Lets those through that match, in their order. */
export type Test = (among: readonly Facts[]) => Promise<readonly Facts[]>;

interface Ranked {
  test: Test;
  /** What it has to read: 0 nothing, 1 places, 2 rows, 3 the text index, 4 threads, 5 headers. */
  cost: number;
}

/** A filter as a test of pages of emails; of several conditions the cheapest sees them first. */
export function compile(scene: Scene, filter: Filter): Test {
  return ranked(scene, filter).test;
}

function ranked(scene: Scene, filter: Filter): Ranked {
  if (!isOperator(filter)) return condition(scene, filter);
  const of = operands(scene, filter).sort((a, b) => a.cost - b.cost);
  const cost = of.at(-1)?.cost ?? 0;
  const tests = of.map(({ test }) => test);
  if (filter.op === 'and') return { cost, test: every(tests) };
  return { cost, test: filter.op === 'or' ? some(tests) : none(tests) };
}

/** Words that must all be there are looked for together: the index is good at that. */
function operands(scene: Scene, filter: Operator): Ranked[] {
  const flat = filter.op === 'and' ? filter.of.flatMap(conjuncts) : filter.of;
  if (filter.op !== 'and') return flat.map((one) => ranked(scene, one));
  const rest = flat.filter((one) => !isText(one));
  return [...textTests(scene, textGroups(flat)), ...rest.map((one) => ranked(scene, one))];
}

const conjuncts = (filter: Filter): readonly Filter[] =>
  isOperator(filter) && filter.op === 'and' ? filter.of.flatMap(conjuncts) : [filter];

const isText = (filter: Filter): filter is Condition & { test: 'text' } =>
  !isOperator(filter) && filter.test === 'text';

/** The words that every email the filter lets through must have. */
export function textGroups(filters: readonly Filter[]): TextGroup[] {
  return filters.flatMap(conjuncts).filter(isText);
}

function textTests(scene: Scene, groups: readonly TextGroup[]): Ranked[] {
  return groups.length === 0 ? [] : [textTest(scene, groups)];
}

function textTest(scene: Scene, groups: readonly TextGroup[]): Ranked {
  const text = new TextTest(scene, groups);
  return { cost: 3, test: async (among) => among.filter(await text.matching(among)) };
}

const every =
  (tests: readonly Test[]): Test =>
  async (among) => {
    let left = among;
    for (const test of tests) if (left.length > 0) left = await test(left);
    return left;
  };

const some =
  (tests: readonly Test[]): Test =>
  async (among) => {
    const found = new Set<Facts>();
    for (const test of tests) {
      const left = among.filter((one) => !found.has(one));
      if (left.length > 0) for (const one of await test(left)) found.add(one);
    }
    return among.filter((one) => found.has(one));
  };

/** RFC 8620 5.5: none of the conditions matches. */
const none =
  (tests: readonly Test[]): Test =>
  async (among) => {
    const found = new Set(await some(tests)(among));
    return among.filter((one) => !found.has(one));
  };

function condition(scene: Scene, asked: Condition): Ranked {
  switch (asked.test) {
    case 'in-mailbox':
      return onPlaces(scene, ({ mailboxes }) => mailboxes.includes(asked.mailbox));
    case 'in-other-than':
      return onPlaces(scene, ({ mailboxes }) => mailboxes.some((mailbox) => !asked.mailboxes.has(mailbox)));
    case 'before':
      return onFacts(({ receivedAt }) => receivedAt < asked.at);
    case 'after':
      return onFacts(({ receivedAt }) => receivedAt >= asked.at);
    case 'min-size':
      return onRows(scene, ({ size }) => size >= asked.octets);
    case 'max-size':
      return onRows(scene, ({ size }) => size < asked.octets);
    case 'attachment':
      return onRows(scene, ({ attach }) => attach === asked.has);
    case 'keyword':
      return { cost: 0, test: async (among) => among.filter(await keywordHeld(scene, asked.keyword, among)) };
    case 'thread-keyword':
      return {
        cost: 4,
        test: async (among) => among.filter(await keywordInThread(scene, asked.has, asked.keyword, among)),
      };
    case 'text':
      return textTest(scene, [asked]);
    case 'header':
      return { cost: 5, test: async (among) => among.filter(await headerHas(scene, asked.field, asked.text, among)) };
  }
}

function onFacts(matches: (facts: Facts) => boolean): Ranked {
  return { cost: 0, test: (among) => Promise.resolve(among.filter(matches)) };
}

function onPlaces(scene: Scene, matches: (places: NonNullable<Facts['places']>) => boolean): Ranked {
  return {
    cost: 1,
    test: async (among) => {
      await readPlaces(scene.rx, scene.account, among);
      return among.filter(({ places }) => places !== undefined && matches(places));
    },
  };
}

function onRows(scene: Scene, matches: (row: NonNullable<Facts['row']>) => boolean): Ranked {
  return {
    cost: 2,
    test: async (among) => {
      await readRows(scene.rx, among);
      return among.filter(({ row }) => row !== undefined && matches(row));
    },
  };
}
