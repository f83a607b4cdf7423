import type { PlanStep } from './plan.ts';
import type { RecordSetChange } from './zone-entry.ts';

/** Steps that change the same name and type, with all their changes in one. */
interface RecordSetSteps {
  steps: PlanStep[];
  change: RecordSetChange;
}

/**
 * Joins the changes of each name and type: each was planned against what was found, so that with one after the other a
 * provider of whole record sets would get the first change undone by the second.
 */
export function recordSetsOf(steps: readonly PlanStep[]): RecordSetSteps[] {
  const sets = new Map<string, RecordSetSteps>();
  for (const step of steps) {
    const { change } = step;
    if (change === undefined) continue;
    const key = `${change.type} ${change.name}`;
    const before = sets.get(key);
    sets.set(
      key,
      before === undefined
        ? { steps: [step], change }
        : { steps: [...before.steps, step], change: joined(before.change, change) },
    );
  }
  return [...sets.values()];
}

function joined(one: RecordSetChange, other: RecordSetChange): RecordSetChange {
  return {
    ...one,
    remove: [...one.remove, ...other.remove],
    add: [...one.add, ...other.add],
    keep: one.keep.filter((entry) => other.keep.includes(entry)),
  };
}
