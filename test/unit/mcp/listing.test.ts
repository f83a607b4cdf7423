import { describe, expect, test } from 'vitest';
import { listed, toolOf } from '../../../src/mcp/listing.ts';
import { readTrim } from '../../../src/mcp/trim.ts';
import { operatorCaller } from '../../../src/operations/caller.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';

/** What a list costs whoever reads it: characters of its JSON, four to a token. */
function tokens(query: string): number {
  const trim = readTrim(new URLSearchParams(query), () => undefined);
  return JSON.stringify({ tools: listed(CATALOGUE, operatorCaller(), trim).map(toolOf) }).length / 4;
}

describe('what the operator is listed, who sees the tools of the box too', () => {
  test('the whole is below 35,000 tokens', () => {
    expect(tokens('')).toBeGreaterThan(5_000);
    expect(tokens('')).toBeLessThan(35_000);
  });

  test('the core toolset is below 8,000, and holds what an agent begins with', () => {
    expect(tokens('toolsets=core')).toBeGreaterThan(1_000);
    expect(tokens('toolsets=core')).toBeLessThan(8_000);
  });

  test('no tool alone is a burden', () => {
    const sizes = CATALOGUE.map((one) => [one.name, JSON.stringify(toolOf(one)).length / 4] as const);
    expect(sizes.filter(([, size]) => size > 900)).toEqual([]);
  });
});
