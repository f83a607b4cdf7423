import { z } from 'zod';
import { inputSchema, visibleTo } from '../description.ts';
import { type Operation, operation } from '../../core/operation.ts';
import { Line, PageSize } from '../../core/schemas.ts';

export const searchTools = operation({
  name: 'search_tools',
  title: 'Search tools',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'read',
  orAction: 'mail_read',
  description:
    'Searches all tools by keyword, also outside the listed toolsets; every tool can be called by name. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ query: Line(1, 200).describe('Keywords'), limit: PageSize(20, 5) }),
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

/** Scores a tool: a match in the name counts 3, in the description 1. */
function scoreOf({ name, title, description }: Operation, words: readonly string[]): number {
  const text = `${title} ${description}`.toLowerCase();
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0);
}
