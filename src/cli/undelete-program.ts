import { printJson, printLine, printUsage, formatTable } from './output.ts';
import type { CliProgram } from './program.ts';
import { callOperation, withServer } from './server-call.ts';

interface Undeleted {
  restored: { messageId: string; folder: string }[];
  missing: string[];
  more: boolean;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3600_000, d: 86_400_000 };

export const undelete: CliProgram = {
  words: 'undelete',
  usage: '--mailbox ADDRESS [--since 1h] [--drafts]',
  about: 'Restore messages deleted since then (30m, 1h, 7d; default all)',
  options: ['mailbox', 'since', 'drafts'],
  async run(start) {
    const { args, options } = start;
    const { mailbox: address, since = '100000d', drafts = false } = options;
    const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
    if (args.length > 0 || address === undefined || count === undefined) return printUsage(undelete);
    const from = new Date(Math.max(1, Date.now() - Number(count) * (UNITS[unit] ?? 0))).toISOString();
    return withServer(start, async (dataDir) => {
      const all: Undeleted['restored'] = [];
      for (let more = true; more;) {
        const done = await callOperation<Undeleted>(dataDir, 'undelete_box_mail', { address, since: from, drafts });
        all.push(...done.restored);
        more = done.more && done.restored.length > 0;
      }
      if (options.json === true) return printJson({ mailbox: address, restored: all });
      const folders = Map.groupBy(all, ({ folder }) => folder);
      const rows = [...folders].map(([folder, messages]) => [folder, String(messages.length)]);
      return printLine(
        rows.length === 0 ? 'Nothing was deleted since then.' : formatTable(['folder', 'restored'], rows),
      );
    });
  },
};
