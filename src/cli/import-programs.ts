import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AccountLines, parseAccounts, type RemoteLogin } from './account-csv.ts';
import { followImports } from './import-progress.ts';
import { printError, printUsage, USAGE_ERROR } from './output.ts';
import type { CliProgram, ProgramInput } from './program.ts';
import { withServer } from './server-call.ts';

export const importImap: CliProgram = {
  words: 'import imap',
  usage: [
    '--from-host HOST --csv FILE | --user USER --mailbox ADDRESS (--password-file FILE | --oauth-token-file FILE)',
    '    [--port N] [--tls implicit|starttls|none] [--any-certificate] [--labels keywords|folders] [--delete]',
    '    [--per-second N] [--folder NAME]',
  ].join('\n'),
  about: 'Pull mailboxes of another server, or what is new there, with a proof',
  options: [
    'from-host',
    'csv',
    'user',
    'mailbox',
    'password-file',
    'oauth-token-file',
    'port',
    'tls',
    'any-certificate',
    'labels',
    'delete',
    'per-second',
    'folder',
  ],
  async run(start) {
    const { options, args } = start;
    const logins = args.length > 0 ? undefined : loginsOf(options);
    if (options['from-host'] === undefined || logins === undefined) return printUsage(importImap);
    if (typeof logins === 'string') return printError(logins, USAGE_ERROR);
    return withServer(start, async (dataDir) => {
      const jobs = logins.logins.map((login) => ({
        operation: 'import_imap',
        address: login.address,
        input: remoteOf(options, login),
        line: login.line,
      }));
      return followImports(dataDir, jobs, options.json === true, logins.bad);
    });
  },
};

function remoteOf(options: ProgramInput['options'], login: RemoteLogin): object {
  const { port, tls, labels, folder } = options;
  const perSecond = options['per-second'];
  return {
    imap: {
      host: options['from-host'],
      user: login.user,
      ...login.secret,
      ...(port !== undefined && { port: Number(port) }),
      ...(tls !== undefined && { tls }),
      ...(labels !== undefined && { labels }),
      ...(perSecond !== undefined && { perSecond: Number(perSecond) }),
      anyCertificate: options['any-certificate'] === true,
      deletions: options.delete === true,
    },
    ...(folder !== undefined && { folder }),
  };
}

/** Logins of the options. Undefined: wrong usage; a text: a problem. */
function loginsOf(options: ProgramInput['options']): AccountLines | string | undefined {
  const { csv, user, mailbox } = options;
  const token = options['oauth-token-file'];
  const file = token ?? options['password-file'];
  try {
    if (csv !== undefined)
      return user === undefined && mailbox === undefined ? parseAccounts(readFileSync(csv, 'utf8')) : undefined;
    if (user === undefined || mailbox === undefined || file === undefined) return undefined;
    const secret = readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '');
    const login = {
      user,
      address: mailbox,
      secret: token === undefined ? { password: secret } : { accessToken: secret },
    };
    return { logins: [login], bad: [] };
  } catch (error) {
    return (error as Error).message;
  }
}

export const importFile: CliProgram = {
  words: 'import',
  usage: 'FILE_OR_DIR --mailbox ADDRESS [--folder NAME]',
  about: 'Import mbox, Maildir, EML files, exports of mail programs, or a zip of them',
  options: ['mailbox', 'folder'],
  async run(start) {
    const { args, options } = start;
    const [path, ...more] = args;
    const { mailbox, folder } = options;
    if (path === undefined || more.length > 0 || mailbox === undefined) return printUsage(importFile);
    const input = { path: resolve(path), ...(folder !== undefined && { folder }) };
    return withServer(start, (dataDir) =>
      followImports(dataDir, [{ operation: 'import_files', address: mailbox, input }], options.json === true),
    );
  },
};
