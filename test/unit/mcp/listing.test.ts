import { describe, expect, test } from 'vitest';
import { visibleTools, toolOf } from '../../../src/mcp/tool-listing.ts';
import { readToolSelection } from '../../../src/mcp/tool-selection.ts';
import { operatorCaller } from '../../../src/core/caller.ts';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { REFUSAL_FIELDS } from '../../../src/core/refusal.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';

/** Cost of a list in tokens: characters of its JSON, four to a token. */
function tokens(query: string): number {
  const trim = readToolSelection(new URLSearchParams(query), () => undefined);
  return JSON.stringify({ tools: visibleTools(CATALOGUE, operatorCaller(), trim).map(toolOf) }).length / 4;
}

describe('what the operator is listed, who sees the tools of the box too', () => {
  test('the whole is below 240 tokens a tool', () => {
    expect(tokens('')).toBeGreaterThan(5_000);
    expect(tokens('') / CATALOGUE.length).toBeLessThan(240);
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

test('the output schema of every tool fits every refusal, which clients check with it', () => {
  const ajv = new AjvJsonSchemaValidator();
  const names = ['error', 'message', ...REFUSAL_FIELDS];
  for (const operation of CATALOGUE) {
    const { outputSchema } = toolOf(operation) as { outputSchema: Parameters<typeof ajv.getValidator>[0] };
    const validate = ajv.getValidator(outputSchema);
    for (const value of ['text', 1, true, null, ['a'], { a: 1 }]) {
      const refusal = Object.fromEntries(names.map((name) => [name, value]));
      expect(validate(refusal), `${operation.name} ${JSON.stringify(value)}`).toMatchObject({ valid: true });
    }
  }
});
