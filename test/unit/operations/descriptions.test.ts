import { describe, expect, test } from 'vitest';
import { BOX_OPERATIONS } from '../../../src/operations/operator/index.ts';
import { CATALOGUE, FOR_PEOPLE } from '../../../src/operations/catalogue.ts';
import { inputSchema } from '../../../src/operations/description.ts';

const OPERATIONS = [...CATALOGUE, ...FOR_PEOPLE, ...BOX_OPERATIONS];

/** Arguments of an operation as tools/list has them. */
function argumentsOf(operation: (typeof OPERATIONS)[number]): [string, { description?: string }][] {
  return Object.entries((inputSchema(operation)['properties'] ?? {}) as Record<string, { description?: string }>);
}

describe('descriptions of arguments', () => {
  test('every argument of every operation has one', () => {
    const missing = OPERATIONS.flatMap((one) =>
      argumentsOf(one)
        .filter(([, { description = '' }]) => description.trim() === '')
        .map(([name]) => `${one.name}.${name}`),
    );
    expect(OPERATIONS.length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });

  test('each is a phrase of at most 80 characters: the list of tools costs every agent context', () => {
    const long = OPERATIONS.flatMap((one) =>
      argumentsOf(one)
        .filter(([, { description = '' }]) => description.length > 80)
        .map(([name]) => `${one.name}.${name}`),
    );
    expect(long).toEqual([]);
  });
});
