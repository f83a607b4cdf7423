import { type Facts, factsOf } from './facts.ts';
import { type Condition, type Filter, isOperator, necessary } from './filter.ts';
import type { Scene } from './scene.ts';
import { type Order, walkOrder } from './sort.ts';
import { sorted } from './sorted.ts';
import { compile, textGroups } from './tests.ts';
import { TextTest } from './text-test.ts';
import { mailboxesOf, type Stretch, walk } from './walk.ts';

/** What it costs to begin in a mailbox, in emails. */
const MAILBOX = 10;

/**
 * The emails that a filter lets through, in the order asked, page by page. In the order of receivedAt only as many are
 * looked at as the reader takes; any other order needs all of them first.
 */
export async function* matches(scene: Scene, filter: Filter, order: Order): AsyncGenerator<readonly Facts[], void> {
  const direction = walkOrder(order);
  const found = await rareFinds(scene, filter);
  if (found !== undefined) {
    yield await sorted(scene, order, found);
    return;
  }
  if (direction !== undefined) {
    yield* walked(scene, filter, direction);
    return;
  }
  const all: Facts[] = [];
  for await (const page of walked(scene, filter, 'descending')) for (const one of page) all.push(one);
  yield await sorted(scene, order, all);
}

/** Where few emails have the words, nothing else is walked through. */
async function rareFinds(scene: Scene, filter: Filter): Promise<readonly Facts[] | undefined> {
  const groups = textGroups([filter]);
  const ids = groups.length === 0 ? undefined : await new TextTest(scene, groups).rare();
  if (ids === undefined) return undefined;
  scene.looked(ids.length);
  return compile(
    scene,
    without(filter, ({ test }) => test === 'text'),
  )(await factsOf(scene.rx, scene.account, ids));
}

async function* walked(
  scene: Scene,
  filter: Filter,
  direction: 'ascending' | 'descending',
): AsyncGenerator<readonly Facts[], void> {
  const conditions = necessary(filter);
  const inside = conditions.find((one) => one.test === 'in-mailbox');
  const all = await mailboxesOf(scene.rx, scene.account);
  const mailboxes = inside === undefined ? all : all.filter((mailbox) => mailbox === inside.mailbox);
  scene.looked(MAILBOX * mailboxes.length);
  const test = compile(scene, inside === undefined ? filter : without(filter, (one) => one === inside));
  for await (const page of walk(scene.rx, mailboxes, direction, stretchOf(conditions))) {
    scene.looked(page.length);
    yield await test(page);
  }
}

function stretchOf(conditions: readonly Condition[]): Stretch {
  let [after, before] = [0, Number.MAX_SAFE_INTEGER];
  for (const one of conditions) {
    if (one.test === 'after') after = Math.max(after, one.at);
    if (one.test === 'before') before = Math.min(before, one.at);
  }
  return { after, before };
}

/** The filter without necessary conditions that are seen to in another way. */
function without(filter: Filter, seen: (condition: Condition) => boolean): Filter {
  if (!isOperator(filter)) return seen(filter) ? { op: 'and', of: [] } : filter;
  return filter.op === 'and' ? { op: 'and', of: filter.of.map((one) => without(one, seen)) } : filter;
}
