/**
 * One member of an address field in ENVELOPE form, read as latin1, not decoded. A group begins with its name as mailbox
 * and no host, and ends with neither. Lenient: for display only, never for authorization.
 */
export interface HeaderAddress {
  name: string | undefined;
  mailbox: string | undefined;
  host: string | undefined;
  /** Source route: `@a.example,@b.example`. RFC 5322 4.4. */
  route?: string;
}

/** Parses an address list of RFC 5322 3.4 and 4.4 leniently, at most `max` members. */
export function parseAddressList(text: string, max = Infinity): HeaderAddress[] {
  const one = max > 0 ? ONE_ADDRESS.exec(text) : null;
  if (one === null) return new AddressList(text, max).read();
  const [, phrase, mailbox, host, bareMailbox, bareHost] = one;
  return [{ name: phrase?.replace(/[ \t\r\n]+/g, ' '), mailbox: mailbox ?? bareMailbox, host: host ?? bareHost }];
}

// Most fields have one address of plain words: alone, or in angle brackets after a phrase.
const WORD = "[!#-'*+\\-./0-9?A-Z\\\\^-~]+";
const BLANK = '[ \\t\\r\\n]';
const PHRASE = `${WORD}(?:${BLANK}+${WORD})*`;
const ONE_ADDRESS = new RegExp(
  `^${BLANK}*(?:(?:(${PHRASE})${BLANK}*)?<(${WORD})@(${WORD})>|(${WORD})@(${WORD}))${BLANK}*$`,
);

// Encoded-words with a bare comma or parenthesis are invalid but common.
const ENCODED_WORD = /=\?[^?\s]{1,60}\?[BbQq]\?[^?"<>\s]{0,998}\?=/y;
const SPECIAL = /[\s()<>"[\],:;@.]/;

class AddressList {
  readonly #text: string;
  readonly #max: number;
  readonly #found: HeaderAddress[] = [];
  #at = 0;
  #inGroup = false;
  // State of the current member.
  #words = '';
  #atSign = -1;
  #quotedEnd = 0;
  #blank = false;
  #comment: string | undefined;
  #angle: HeaderAddress | undefined;

  constructor(text: string, max: number) {
    this.#text = text;
    this.#max = max;
  }

  read(): HeaderAddress[] {
    while (this.#at < this.#text.length && this.#found.length < this.#max) this.#step();
    this.#finish();
    if (this.#inGroup) this.#add({ name: undefined, mailbox: undefined, host: undefined });
    return this.#found;
  }

  #add(member: HeaderAddress): void {
    if (this.#found.length < this.#max) this.#found.push(member);
  }

  #step(): void {
    const char = this.#text[this.#at] ?? '';
    switch (char) {
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        this.#blank = true;
        this.#at++;
        return;
      case '(':
        this.#comment = this.#readComment();
        return;
      case '"':
        this.#word(this.#readQuoted());
        this.#quotedEnd = this.#words.length;
        return;
      case '<':
        this.#readAngle();
        return;
      case ',':
        this.#at++;
        this.#finish();
        return;
      case ';':
        this.#at++;
        this.#finish();
        if (this.#inGroup) this.#add({ name: undefined, mailbox: undefined, host: undefined });
        this.#inGroup = false;
        return;
      case ':':
        this.#at++;
        this.#openGroup();
        return;
      default:
        this.#readAtom(char);
    }
  }

  /** Opens a group after a phrase; a colon elsewhere is literal. */
  #openGroup(): void {
    if (this.#inGroup || this.#angle !== undefined || this.#atSign >= 0) {
      this.#word(':');
      return;
    }
    const name = this.#words.trim();
    this.#reset();
    this.#add({ name: undefined, mailbox: name, host: undefined });
    this.#inGroup = true;
  }

  #word(word: string): void {
    if (this.#blank && this.#words !== '') this.#words += ' ';
    this.#blank = false;
    this.#words += word;
  }

  #readAtom(char: string): void {
    if (char === '@') this.#atSign = this.#words.length + (this.#blank && this.#words !== '' ? 1 : 0);
    ENCODED_WORD.lastIndex = this.#at;
    const encoded = char === '=' ? ENCODED_WORD.exec(this.#text) : null;
    let end = this.#at + (encoded ? encoded[0].length : 1);
    if (char === '[') end = this.#literalEnd();
    else while (end < this.#text.length && !SPECIAL.test(this.#text[end] ?? '')) end++;
    this.#word(this.#text.slice(this.#at, end));
    this.#at = end;
  }

  #literalEnd(): number {
    let end = this.#at + 1;
    while (end < this.#text.length && !/[\]<>,;\s]/.test(this.#text[end] ?? '')) end++;
    return this.#text[end] === ']' ? end + 1 : end;
  }

  /** Reads a quoted string; without a closing quote it takes the rest. */
  #readQuoted(): string {
    let out = '';
    let start = ++this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '"') break;
      if (char !== '\\') continue;
      out += this.#text.slice(start, this.#at);
      start = ++this.#at;
    }
    out += this.#text.slice(start, this.#at++);
    return out;
  }

  /** Reads a comment; nesting is counted, not recursive. */
  #readComment(): string {
    const start = ++this.#at;
    let depth = 1;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\\') this.#at++;
      else if (char === '(') depth++;
      else if (char === ')' && --depth === 0) break;
    }
    return this.#text.slice(start, this.#at++).replace(/\\(.)/g, '$1').trim();
  }

  #readAngle(): void {
    this.#at++;
    const phrase = this.#words.trim();
    const comment = this.#comment;
    this.#reset();
    let source = '';
    for (let route = this.#text[this.#at] === '@'; this.#at < this.#text.length;) {
      const char = this.#text[this.#at] ?? '';
      if (char === '>') break;
      // A missing ">" must not swallow the next address.
      if ((char === ',' || char === ';') && !route) break;
      if (char === ':' && route) {
        // RFC 5322 4.4: a source route ends; it is no part of the address.
        route = false;
        source = this.#words.replace(/\s/g, '');
        this.#reset();
        this.#at++;
      } else if (char === '"') {
        this.#word(this.#readQuoted());
        this.#quotedEnd = this.#words.length;
      } else if (char === '(') this.#readComment();
      else if (/\s/.test(char)) {
        this.#blank = true;
        this.#at++;
      } else this.#readAtom(char);
    }
    if (this.#text[this.#at] === '>') this.#at++;
    const address = this.#split();
    this.#reset();
    this.#comment = comment;
    this.#angle = { ...address, name: phrase === '' ? undefined : phrase, ...(source !== '' && { route: source }) };
  }

  /** Splits into mailbox and host at the last "@"; removes blanks of the obsolete syntax. */
  #split(): HeaderAddress {
    if (this.#atSign < 0) return { name: undefined, mailbox: this.#words.trim(), host: '' };
    const quoted = this.#quotedEnd > 0 && this.#quotedEnd <= this.#atSign;
    const local = this.#words.slice(0, this.#atSign);
    return {
      name: undefined,
      mailbox: quoted ? local.trim() : local.replace(/\s/g, ''),
      host: this.#words.slice(this.#atSign + 1).replace(/\s/g, ''),
    };
  }

  #finish(): void {
    if (this.#angle !== undefined) {
      // "<a@b> Name": some senders put the name last.
      const behind = this.#words.trim();
      const name = this.#angle.name ?? (behind === '' ? this.#comment : behind);
      this.#add({ ...this.#angle, name });
    } else if (this.#words !== '') {
      this.#add({ ...this.#split(), name: this.#comment === '' ? undefined : this.#comment });
    }
    this.#reset();
  }

  #reset(): void {
    this.#words = '';
    this.#atSign = -1;
    this.#quotedEnd = 0;
    this.#blank = false;
    this.#comment = undefined;
    this.#angle = undefined;
  }
}
