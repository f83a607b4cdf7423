import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { Line } from '../schemas.ts';

const DOCS = new URL('../../../docs/', import.meta.url);
const LONGEST = 1_500;

interface Section {
  document: string;
  heading: string;
  text: string;
}

let sections: Promise<Section[]> | undefined;

export const searchDocs = operation({
  name: 'search_docs',
  title: 'Search the documentation',
  toolset: 'support',
  reach: 'any',
  action: 'read',
  description: "Finds sections of this server's own documentation by words. Changes nothing.",
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ query: Line(1, 200), limit: z.number().int().min(1).max(10).default(3) }),
  output: z.object({
    sections: z.array(z.object({ document: z.string(), heading: z.string(), text: z.string() })),
  }),
  async run(_call, { query, limit }) {
    const words = query
      .toLowerCase()
      .split(/[^\p{L}\p{N}_]+/u)
      .filter((word) => word.length > 1);
    sections ??= readSections();
    const ranked = (await sections)
      .map((section) => ({ section, score: scoreOf(section, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score);
    return {
      sections: ranked.slice(0, limit).map(({ section }) => ({ ...section, text: section.text.slice(0, LONGEST) })),
    };
  },
});

/** A word in the heading counts more than one in the text. */
function scoreOf({ heading, text }: Section, words: readonly string[]): number {
  const [top, all] = [heading.toLowerCase(), text.toLowerCase()];
  return words.reduce((sum, word) => sum + (top.includes(word) ? 3 : 0) + (all.includes(word) ? 1 : 0), 0);
}

async function readSections(): Promise<Section[]> {
  const names = (await readdir(DOCS)).filter((name) => name.endsWith('.md')).toSorted();
  const documents = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(new URL(name, DOCS), 'utf8') })),
  );
  return documents.flatMap(({ name, text }) =>
    text.split(/^(?=#{1,4} )/m).flatMap((part): Section[] => {
      const [heading = '', ...rest] = part.split('\n');
      const body = rest.join('\n').trim();
      return body === '' ? [] : [{ document: name, heading: heading.replace(/^#+ /, ''), text: body }];
    }),
  );
}
