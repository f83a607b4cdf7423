import { readFileSync } from 'node:fs';

/** The test of a capability: a dialog in which a client sends a command and gets a response, or a test that names it. */
export type CapabilityTest = { dialog: string; command: RegExp; response: RegExp } | { file: string; mentions: RegExp };

const dialog = (name: string, command: RegExp, response: RegExp): CapabilityTest => ({
  dialog: `test/dialogs/imap/${name}.dialog`,
  command,
  response,
});

/** A test for each capability that the server can advertise. Add an entry with a new capability. */
export const CAPABILITY_TESTS: Readonly<Record<string, CapabilityTest>> = {
  ACL: dialog('acl', /GETACL Team/, /\* ACL Team "ann@box\.test" lrswipkxtenacd/),
  'APPENDLIMIT=': dialog('mailboxes', /STATUS INBOX \(.*APPENDLIMIT\)/, /APPENDLIMIT 26214400/),
  'AUTH=LOGIN': { file: 'test/unit/login/logins.test.ts', mentions: /'LOGIN'/ },
  'AUTH=OAUTHBEARER': { file: 'test/unit/login/bearer.test.ts', mentions: /'OAUTHBEARER'/ },
  'AUTH=PLAIN': dialog('start', /AUTHENTICATE PLAIN$/, /\+ $/),
  'AUTH=SCRAM-SHA-256': { file: 'test/unit/login/logins.test.ts', mentions: /'SCRAM-SHA-256'/ },
  'AUTH=SCRAM-SHA-256-PLUS': { file: 'test/unit/login/channel-binding.test.ts', mentions: /'SCRAM-SHA-256-PLUS'/ },
  'AUTH=XOAUTH2': { file: 'test/unit/login/bearer.test.ts', mentions: /'XOAUTH2'/ },
  BINARY: dialog('items', /FETCH 1 \(BINARY\.PEEK\[3\]\)/, /BINARY\[3\] ~\{4\}/),
  CATENATE: dialog('compose', /APPEND Drafts .*CATENATE \(TEXT/, /OK \[APPENDUID/),
  CHILDREN: dialog('mailboxes', /RETURN \(SUBSCRIBED CHILDREN/, /\\HasNoChildren/),
  'COMPRESS=DEFLATE': dialog('codes', /COMPRESS DEFLATE/, /NO \[COMPRESSIONACTIVE\]/),
  CONDSTORE: dialog('condstore', /STORE 1:3 \(UNCHANGEDSINCE 4\)/, /\[MODIFIED /),
  'CONTEXT=SEARCH': dialog('search', /UID SEARCH RETURN \(UPDATE ALL\)/, /\* ESEARCH \(TAG "a"\) UID ALL/),
  'CONTEXT=SORT': dialog('search', /UID SORT RETURN \(UPDATE ALL\)/, /\* ESEARCH \(TAG "a"\) UID ALL/),
  'CREATE-SPECIAL-USE': dialog('mailboxes', /CREATE Bin \(USE \(\\Trash\)\)/, /(?:OK|NO \[USEATTR\])/),
  ENABLE: dialog('qresync', /ENABLE QRESYNC/, /\* ENABLED QRESYNC/),
  ESEARCH: dialog('condstore', /UID SEARCH RETURN \(MIN MAX COUNT ALL\)/, /\* ESEARCH .* MIN \d+ MAX \d+ COUNT \d+/),
  ESORT: dialog('search', /SORT RETURN \(MIN MAX COUNT ALL\)/, /\* ESEARCH .* MIN 3 MAX 4 COUNT 4/),
  'I18NLEVEL=1': dialog('search', /SEARCH SUBJECT "GR\\xc3\\x96"/, /\* SEARCH 1/),
  ID: dialog('start', /ID NIL/, /\* ID \("name" "Mailstead"\)/),
  IDLE: dialog('two-sessions', /IDLE/, /\+ idling/),
  IMAP4rev1: dialog('session', /SELECT INBOX/, /\* 0 RECENT/),
  IMAP4rev2: dialog('rev2', /ENABLE IMAP4rev2/, /\* ENABLED IMAP4rev2/),
  INPROGRESS: dialog('codes', /SEARCH TEXT Hello/, /\* OK \[INPROGRESS \("a1" NIL NIL\)\]/),
  JMAPACCESS: dialog('session', /GETJMAPACCESS/, /\* JMAPACCESS "https:/),
  'LIST-EXTENDED': dialog('list', /LIST \(SUBSCRIBED RECURSIVEMATCH\)/, /"CHILDINFO" \("SUBSCRIBED"\)/),
  'LIST-METADATA': dialog('metadata', /LIST .* RETURN \(METADATA \(/, /\* METADATA INBOX \("\/private\/comment"/),
  'LIST-MYRIGHTS': dialog('acl', /LIST .* RETURN \(MYRIGHTS\)/, /\* MYRIGHTS .* lrstd/),
  'LIST-STATUS': dialog('list', /LIST "" INBOX RETURN \(STATUS \(/, /\* STATUS INBOX \(/),
  'LITERAL+': dialog('append', /APPEND Drafts \{8\+\}/, /OK \[APPENDUID/),
  'LITERAL-': dialog('session', /LOGIN \{5000\}/, /BAD \[TOOBIG\]/),
  LOGINDISABLED: dialog('start', /LOGIN me@box\.test secret/, /NO \[PRIVACYREQUIRED\]/),
  METADATA: dialog('metadata', /GETMETADATA/, /\* METADATA /),
  MOVE: dialog('selected', /MOVE /, /\* OK \[COPYUID /),
  MULTIAPPEND: dialog('compose', /APPEND Drafts .*\{9\+\}.*\{9\+\}.*\{9\+\}/, /OK \[APPENDUID \d+ 1:3\]/),
  MULTISEARCH: dialog('search', /ESEARCH IN \(mailboxes "INBOX"/, /\* ESEARCH \(TAG "b" MAILBOX /),
  NAMESPACE: dialog('mailboxes', /NAMESPACE/, /\* NAMESPACE \(\("" "\/"\)\)/),
  NOTIFY: dialog('notify', /NOTIFY SET STATUS/i, /\* STATUS Sent \(/),
  OBJECTID: dialog('items', /FETCH 1 \(EMAILID THREADID\)/, /EMAILID \(m1\) THREADID \(t1\)/),
  PARTIAL: dialog('search', /UID SEARCH RETURN \(PARTIAL 1:2\)/, /PARTIAL \(1:2 /),
  PREVIEW: dialog('items', /FETCH 1 \(RFC822\.SIZE PREVIEW\)/, /PREVIEW "Hello 1"/),
  QRESYNC: dialog('qresync', /SELECT INBOX \(QRESYNC \(1001 5\)\)/, /\* VANISHED \(EARLIER\)/),
  QUOTA: dialog('quota', /GETQUOTAROOT INBOX/, /\* QUOTAROOT INBOX ""/),
  'QUOTA=RES-MESSAGE': dialog('quota', /GETQUOTA ""/, /MESSAGE 3 100/),
  'QUOTA=RES-STORAGE': dialog('quota', /STATUS INBOX \(.*DELETED-STORAGE\)/, /DELETED-STORAGE 55/),
  REPLACE: dialog('compose', /REPLACE 1 Drafts/, /\* OK \[APPENDUID /),
  'RIGHTS=kxten': dialog('acl', /LISTRIGHTS INBOX bob@box\.test/, /"" l r s w i t e n/),
  'SASL-IR': dialog('start', /AUTHENTICATE PLAIN \S/, /OK \[CAPABILITY/),
  SAVEDATE: dialog('items', /FETCH 1 \(.*SAVEDATE\)/, /SAVEDATE "14-Nov-2023/),
  'SAVELIMIT=': dialog('compose', /APPEND Drafts .*\{9\+\}/, /NO \[MESSAGELIMIT 2\]/),
  'SEARCH=FUZZY': dialog('search', /SEARCH RETURN \(RELEVANCY ALL\) FUZZY/, /RELEVANCY \(/),
  SEARCHRES: dialog('search', /SEARCH RETURN \(SAVE\) FLAGGED/, /OK /),
  SORT: dialog('search', /SORT \(SUBJECT\) UTF-8 ALL/, /\* SORT 2 3 1 4/),
  'SORT=DISPLAY': dialog('search', /SORT \(DISPLAYFROM\)/, /\* SORT 1 4 2 3/),
  'SPECIAL-USE': dialog('list', /LIST \(SPECIAL-USE\) "" "\*"/, /\\HasNoChildren \\Archive/),
  STARTTLS: dialog('start', /STARTTLS/, /OK /),
  'STATUS=SIZE': dialog('mailboxes', /STATUS INBOX \(.* SIZE /, / SIZE 165 /),
  'THREAD=ORDEREDSUBJECT': dialog('search', /THREAD ORDEREDSUBJECT UTF-8 ALL/, /\* THREAD \(1/),
  'THREAD=REFERENCES': dialog('search', /THREAD REFERENCES UTF-8 ALL/, /\* THREAD \(1/),
  'THREAD=REFS': dialog('search', /UID THREAD REFS UTF-8 ALL/, /\* THREAD \(\(4\)\(5\)\)/),
  UIDBATCHES: dialog('search', /UIDBATCHES 500$/, /\* UIDBATCHES \(TAG "a"\) 2:1/),
  UIDONLY: dialog('uidonly', /FETCH 1 FLAGS/, /BAD \[UIDREQUIRED\]/),
  UIDPLUS: dialog('selected', /UID EXPUNGE /, /\* \d+ EXPUNGE/),
  UNAUTHENTICATE: dialog('session', /UNAUTHENTICATE/, /OK /),
  UNSELECT: dialog('selected', /UNSELECT/, /OK /),
  'URL-PARTIAL': dialog('compose', /CATENATE .*;PARTIAL=1\.2"/, /OK \[APPENDUID/),
  'UTF8=ACCEPT': dialog('rev2', /ENABLE UTF8=ACCEPT/, /\* ENABLED UTF8=ACCEPT/),
  WITHIN: dialog('search', /SEARCH .*YOUNGER 60/, /COUNT /),
};

const ROOT = new URL('../../', import.meta.url);

/** Tests if the file of a test has what its entry names. Comments do not count. */
export function testExists(entry: CapabilityTest): boolean {
  if ('file' in entry) {
    const code = read(entry.file).filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
    return code.some((line) => entry.mentions.test(line));
  }
  const lines = read(entry.dialog).filter((line) => !line.startsWith('#'));
  return lines.some((line, at) => isClients(line) && entry.command.test(line) && isAnswered(lines, at, entry.response));
}

const read = (file: string): string[] => readFileSync(new URL(file, ROOT), 'utf8').split('\n');
const isClients = (line: string): boolean => /^(?:[A-Z] )?[CR]: /.test(line);

/** Tests if the server sends a response before the next command. */
function isAnswered(lines: readonly string[], at: number, response: RegExp): boolean {
  const rest = lines.slice(at + 1);
  const next = rest.findIndex((line) => line === '' || /^(?:[A-Z] )?[CR]: [a-z]\w* [A-Za-z]/.test(line));
  const own = next < 0 ? rest : rest.slice(0, next);
  return own.some((line) => /^(?:[A-Z] )?S: /.test(line) && response.test(line));
}
