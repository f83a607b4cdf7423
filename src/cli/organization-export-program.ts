import { open, rename, unlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { flushDirectory } from '../../mail/backup/flush-file.ts';
import { draftOf, ForeignDraft } from '../../mail/transfer/export-draft.ts';
import { DONE, FAILED, printError, printJson, printLine, printUsage } from './output.ts';
import type { CliProgram } from './program.ts';
import { callOperation, withServer } from './server-call.ts';

export interface ExportStep {
  section: string;
  rows: Record<string, unknown>[];
  next: { section: number; after?: string | number } | null;
}

export const exportOrganization: CliProgram = {
  words: 'organization export',
  usage: 'SLUG FILE.json',
  about: 'Export everything of an organization but mail and secrets, as JSON',
  async run(start) {
    const [slug, file, ...more] = start.args;
    if (slug === undefined || file === undefined || more.length > 0) return printUsage(exportOrganization);
    const path = resolve(file);
    if (existsSync(path)) return printError(`${path} exists. Choose a new file.`, FAILED);
    if (existsSync(draftOf(path))) return printError(new ForeignDraft(draftOf(path)).message, FAILED);
    return withServer(start, async (dataDir) => {
      const counts = await writeOrganization(dataDir, slug, path);
      if (start.options.json === true) return printJson({ organization: slug, path, counts });
      const all = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
      printLine(`${path}: ${all.join(', ')}`);
      return DONE;
    });
  },
};

/** Writes the export under a temporary name, which it loses when all of it is flushed. Returns the rows of each section. */
export async function writeOrganization(dataDir: string, slug: string, path: string): Promise<Record<string, number>> {
  const draft = draftOf(path);
  const counts: Record<string, number> = {};
  // Not within `try`: what another program has there is not removed.
  const opened = await open(draft, 'wx', 0o600);
  try {
    {
      await using file = opened;
      await file.appendFile(`{"exportedAt":${JSON.stringify(new Date().toISOString())}`);
      for await (const { section, rows } of organizationSteps(dataDir, slug)) {
        const isNew = counts[section] === undefined;
        if (isNew)
          await file.appendFile(`${Object.keys(counts).length === 0 ? '' : ']'},\n${JSON.stringify(section)}:[`);
        const before = counts[section] ?? 0;
        counts[section] = before + rows.length;
        const text = rows.map((row) => JSON.stringify(row)).join(',\n');
        await file.appendFile(before > 0 && rows.length > 0 ? `,\n${text}` : text);
      }
      await file.appendFile(']}\n');
      await file.sync();
    }
    await rename(draft, path);
    await flushDirectory(dirname(path));
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  return counts;
}

/** Everything of an organization but mail and secrets, a page of a section at a time. */
export async function* organizationSteps(dataDir: string, organization: string): AsyncGenerator<ExportStep> {
  for (let next: ExportStep['next'] = { section: 0 }; next !== null;) {
    const step: ExportStep = await callOperation<ExportStep>(dataDir, 'export_organization_step', {
      organization,
      ...next,
    });
    yield step;
    next = step.next;
  }
}
