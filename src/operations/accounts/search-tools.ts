import { z } from 'zod';
import { inputSchema, visibleTo } from '../description.ts';
import { type Operation, operation } from '../operation.ts';
import { Line } from '../schemas.ts';

export const searchTools = operation({
  name: 'search_tools',
  title: 'Find a tool',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'read',
  description:
    'Finds tools by words, also those outside the listed toolsets; every tool can be called by its name. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ query: Line(1, 200), limit: z.number().int().min(1).max(20).default(5) }),
  output: z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        toolset: z.string(),
        description: z.string(),
        inputSchema: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
  async run({ catalogue, caller }, { query, limit }) {
    const words = query
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word.length > 1);
    const ranked = (await catalogue())
      .filter((one) => visibleTo(one, caller))
      .map((one) => ({ one, score: scoreOf(one, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score);
    return {
      tools: ranked.slice(0, limit).map(({ one }) => ({
        name: one.name,
        title: one.title,
        toolset: one.toolset,
        description: one.description,
        inputSchema: inputSchema(one),
      })),
    };
  },
});

/** A word in the name counts more than one in the description. */
function scoreOf({ name, title, description }: Operation, words: readonly string[]): number {
  const text = `${title} ${description}`.toLowerCase();
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0);
}
