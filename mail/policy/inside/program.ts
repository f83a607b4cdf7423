/** By what a system starts a file when somebody opens it. */
const PROGRAMS: ReadonlySet<string> = new Set(
  (
    'ade adp apk app appinstaller appx appxbundle bat cab chm cmd com cpl diagcab dll dmg exe gadget hta img inf ins ' +
    'iso isp jar jnlp js jse ksh lnk mde msc msh msi msix msp mst one osd pif pkg ps1 psc1 reg rgs scf scr sct ' +
    'settingcontent-ms sh shb shs url vb vbe vbs vhd vhdx vxd wsc wsf wsh xbap xll'
  ).split(' '),
);
/** Those that come with the source of honest programs too. */
const SOURCES: ReadonlySet<string> = new Set('bat cmd com inf js ps1 reg sh url vb dll jar'.split(' '));
const HARMLESS = /\.(?:pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|txt|html?|mp[34]|csv|rtf|zip)[\s_.]*$/i;

/** The last ending of a file name in lower case; blanks and dots behind it are dropped, as Windows does. */
function ending(name: string): string {
  return /\.([a-z0-9-]{1,20})$/i.exec(name.slice(-300).replace(/[\s.\0]+$/, ''))?.[1]?.toLowerCase() ?? '';
}

/** What a program calls itself: plainly, or another kind of file; undefined for the name of no program. */
export function programName(name: string): 'plain' | 'disguised' | undefined {
  const last = ending(name);
  if (!PROGRAMS.has(last)) return undefined;
  return HARMLESS.test(name.slice(0, name.toLowerCase().lastIndexOf(`.${last}`)).slice(-100)) ? 'disguised' : 'plain';
}

/** Whether it may be there for other reasons than to be started, among other files. */
export function isSource(name: string): boolean {
  return SOURCES.has(ending(name));
}

/** The kind of program that these octets begin, whatever the file is called; '' when it is none. */
export function programKind(head: Buffer): string {
  const start = head.toString('latin1', 0, 64);
  if (start.startsWith('MZ')) return isPortable(head) ? 'Windows' : '';
  if (start.startsWith('\x7fELF')) return 'Linux';
  if (/^(?:\xcf\xfa\xed\xfe|\xce\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf])/.test(start)) return 'macOS';
  if (start.startsWith('L\0\0\0\x01\x14\x02\0')) return 'Windows';
  if (/^#! ?\/[a-z]/.test(start)) return 'script';
  return '';
}

/** A DOS header that leads to another one, or ends before it could: text may begin with MZ as well. */
function isPortable(head: Buffer): boolean {
  if (head.length < 64) return /[\0-\x08]/.test(head.toString('latin1'));
  const at = head.readUInt32LE(60);
  return at + 4 > head.length || /^(?:PE\0\0|NE|LE|LX)/.test(head.toString('latin1', at, at + 4));
}
