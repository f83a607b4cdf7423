import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { operation } from '../../core/operation.ts';
import { Line, PageSize } from '../../core/schemas.ts';

const DOCS = new URL('../../../docs/', import.meta.url);
/** Pages for developers of Mailstead, left out: their matches would hide those for users. */
const DEVELOPER_PAGES = new Set(['README.md', 'architecture.md', 'cost.md', 'decisions.md', 'dependencies.md']);
const MAX_CHARS = 1_500;

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
  orAction: 'mail_read',
  description: "Searches this server's documentation by keyword. Changes nothing.",
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ query: Line(1, 200).describe('Keywords'), limit: PageSize(10, 3) }),
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
      sections: ranked.slice(0, limit).map(({ section }) => ({ ...section, text: section.text.slice(0, MAX_CHARS) })),
    };
  },
});

/** Scores a section: a match in the heading counts more than one in the text. */
function scoreOf({ heading, text }: Section, words: readonly string[]): number {
  const [top, all] = [heading.toLowerCase(), text.toLowerCase()];
  return words.reduce((sum, word) => sum + (top.includes(word) ? 3 : 0) + (all.includes(word) ? 1 : 0), 0);
}

async function readSections(): Promise<Section[]> {
  const names = (await readdir(DOCS)).filter((name) => name.endsWith('.md') && !DEVELOPER_PAGES.has(name)).toSorted();
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
