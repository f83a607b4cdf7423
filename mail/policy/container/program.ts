/** File extensions that a system executes. */
const PROGRAMS: ReadonlySet<string> = new Set(
  (
    'ade adp apk app appinstaller appx appxbundle bat cab chm cmd com cpl diagcab dll dmg exe gadget hta img inf ins ' +
    'iso isp jar jnlp js jse ksh lnk mde msc msh msi msix msp mst one osd pif pkg ps1 psc1 reg rgs scf scr sct ' +
    'settingcontent-ms sh shb shs url vb vbe vbs vhd vhdx vxd wsc wsf wsh xbap xll'
  ).split(' '),
);
/** Extensions that source code archives contain too. */
const SOURCES: ReadonlySet<string> = new Set('bat cmd com inf js ps1 reg sh url vb dll jar'.split(' '));
const DOCUMENT_NAME = /\.(?:pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|txt|html?|mp[34]|csv|rtf|zip)[\s_.]*$/i;

/** Returns the extension in lower case; trailing blanks and dots are dropped, as Windows does. */
function fileExtension(name: string): string {
  return /\.([a-z0-9-]{1,20})$/i.exec(name.slice(-300).replace(/[\s.\0]+$/, ''))?.[1]?.toLowerCase() ?? '';
}

/** Classifies the name of a program: plain, or disguised as a document; undefined for other files. */
export function classifyProgramName(name: string): 'plain' | 'disguised' | undefined {
  const last = fileExtension(name);
  if (!PROGRAMS.has(last)) return undefined;
  return DOCUMENT_NAME.test(name.slice(0, name.toLowerCase().lastIndexOf(`.${last}`)).slice(-100))
    ? 'disguised'
    : 'plain';
}

/** True for files that may be source code among other files. */
export function isSourceFile(name: string): boolean {
  return SOURCES.has(fileExtension(name));
}

/** Detects a program by its first octets; '' for none. */
export function detectProgram(head: Buffer): string {
  const start = head.toString('latin1', 0, 64);
  if (start.startsWith('MZ')) return isPortable(head) ? 'Windows' : '';
  if (start.startsWith('\x7fELF')) return 'Linux';
  if (/^(?:\xcf\xfa\xed\xfe|\xce\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf])/.test(start)) return 'macOS';
  if (start.startsWith('L\0\0\0\x01\x14\x02\0')) return 'Windows';
  if (/^#! ?\/[a-z]/.test(start)) return 'script';
  return '';
}

/** True for a DOS header that points to a PE, NE or LE header, or is cut before it: text may start with MZ too. */
function isPortable(head: Buffer): boolean {
  if (head.length < 64) return /[\0-\x08]/.test(head.toString('latin1'));
  const at = head.readUInt32LE(60);
  return at + 4 > head.length || /^(?:PE\0\0|NE|LE|LX)/.test(head.toString('latin1', at, at + 4));
}
