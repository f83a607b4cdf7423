import { describe, expect, test } from 'vitest';
import { walkHtml } from '../../../mail/policy/html-walk.ts';

/** The words that a reader sees, and those that one does not. */
function read(html: string): { seen: string; hidden: string } {
  const texts = [...walkHtml(html)].flatMap((piece) => (piece.kind === 'text' ? [piece] : []));
  const joined = (unseen: 'hidden' | undefined): string =>
    texts
      .filter((one) => one.unseen === unseen)
      .map(({ text }) => text.trim())
      .join('');
  return { seen: joined(undefined), hidden: joined('hidden') };
}

const styled = (css: string, body: string): ReturnType<typeof read> => read(`<style>${css}</style>${body}`);

describe('what a style sheet hides', () => {
  test.each([
    ['a class', '.x{display:none}', '<p class="y x">A</p>'],
    ['an id', '#x{visibility:hidden}', '<p id=x>A</p>'],
    ['a type', 'p{opacity:0}', '<p>A</p>'],
    ['several', 'h1, .x , h2{font-size:0}', '<p class=x>A</p>'],
    ['all at once', 'p.x#y{mso-hide:all}', '<p class=x id=y>A</p>'],
    ['one inside another', 'div .x b{display:none}', '<div><p class=x><i><b>A</b></i></p></div>'],
    ['a child', 'div>p{left:-9999px}', '<div><p>A</p></div>'],
    ['what is in the body that nobody wrote', 'html body .x{display:none}', '<p class=x>A</p>'],
    ['white text on the body that nobody wrote', 'body{color:white}', '<p>A</p>'],
    ['an attribute', '[title="a"]{display:none}', '<p title=a>A</p>'],
    ['anything', '*{display:none}', '<p>A</p>'],
    ['the later rule', '.x{display:block}.x{display:none}', '<p class=x>A</p>'],
    ['the heavier rule', '#y{display:none}.x{display:block}', '<p class=x id=y>A</p>'],
    ['what is important', '.x{display:none!important}', '<p class=x style="display:block">A</p>'],
    ['a rule for screens', '@media only screen and (max-width:2000px){.x{display:none}}', '<p class=x>A</p>'],
    ['a rule behind another block', '@media print{.x{color:red}} .x{display:none}', '<p class=x>A</p>'],
    ['a rule behind notes', '/* {a} */ @import "x"; /*b*/.x/*c*/{/*d*/display:none}', '<p class=x>A</p>'],
    ['a rule in a comment', '<!-- .x{display:none} -->', '<p class=x>A</p>'],
    ['white text on the page', '.x{color:#fffffe}', '<div class=x><b>A</b></div>'],
    ['text of the color of a cell', 'td{background:#000}', '<table><td>A</td></table>'],
    ['clear text', '.x{color:rgba(0,0,0,0)}', '<p class=x>A</p>'],
    ['clear text by percent', '.x{color:rgb(0 0 0 / 0%)}', '<p class=x>A</p>'],
    ['clear text in hexadecimal', '.x{color:#0000}', '<p class=x>A</p>'],
    ['white by its brightness', '.x{color:hsl(0 0% 100%)}', '<p class=x>A</p>'],
    ['the color that fills letters', '.x{color:red;-webkit-text-fill-color:transparent}', '<p class=x>A</p>'],
    ['a property in numbers', '.x{d\\69 splay:n\\one}', '<p class=x>A</p>'],
    ['a property behind a note', '.x{/* * **/display:none}', '<p class=x>A</p>'],
    ['a percentage', '.x{opacity:0%}', '<p class=x>A</p>'],
    ['a filter', '.x{filter:opacity(0)}', '<p class=x>A</p>'],
    ['a font without size', '.x{font:italic 1px/1 serif}', '<p class=x>A</p>'],
    ['what is drawn to nothing', '.x{scale:0}', '<p class=x>A</p>'],
    ['what is not drawn', '.x{content-visibility:hidden}', '<p class=x>A</p>'],
    ['what is put away', '.x{transform:translateX(-9999px)}', '<p class=x>A</p>'],
    ['lines without height', '.x{line-height:0;overflow:hidden}', '<p class=x>A</p>'],
    ['what is cut to nothing', '.x{width:0;overflow:hidden}', '<p class=x>A</p>'],
  ])('%s', (_name, css, body) => {
    expect(styled(css, body)).toEqual({ seen: '', hidden: 'A' });
  });

  const GONE = '<div style="display:none">';
  test.each([
    ['an end in a title', `${GONE}<title></div></title>A</div>`],
    ['an end in a text field', `${GONE}<textarea></div></textarea>A</div>`],
    ['an end in a sheet', `${GONE}<style></div></style>A</div>`],
    ['a comment in a sheet', `<style><!--</style>${GONE}--></style>A</div>`],
    ['a comment that ends at once', `<!-->${GONE}-->A</div>`],
    ['a comment that ends with a mark', `<!-- --!>${GONE}-->A</div>`],
    ['an end in what is like a comment', `${GONE}<!</div>A</div>`],
    ['an end in a cell of what it ends', `${GONE}<table><td></div>A</table></div>`],
    ['an end of words around a block', '<span style="display:none"><div></span>A</div>'],
    ['an end of bold words around a block', '<b><div style="display:none"></b>A</div>'],
    ['bold words that are left open', '<p><b style="display:none"></p>A'],
    ['words that cross', '<b><i style="display:none"></b>A</i>'],
    ['bold words around many blocks', `<b style="display:none">${'<div>'.repeat(8)}</b>A`],
    ['an end of the page', '<body style="display:none"></body>A'],
    ['an end of it all', '<html style="display:none"></html>A'],
    ...['<div>', '<section>', '<hr>', '<dl>', '<form>', '<center>'].map((tag): [string, string] => [
      `${tag} in a paragraph`,
      `<div style="color:#fff"><p style="color:#000"><i>${tag}A`,
    ]),
    ['an item behind another', '<ul style="color:#fff"><li style="color:#000"><span><li>A</ul>'],
    ['a cell without a table', '<div style="color:#fff"><td style="color:#000">A</td></div>'],
    ['a link behind another', '<div style="color:#fff"><a style="color:#000"><a>A</a>'],
    ['a value that is none', '<p style="display:none;display:foo">A</p>'],
    ['a color that is none', '<p style="color:#fff;color:foo">A</p>'],
    ['a rule with a value that is none', '<style>.x{display:none}p.x{display:foo}</style><p class=x>A</p>'],
    ['a sheet in a comment', '<!--<style>p{display:block!important}</style>--><p style="display:none">A</p>'],
    ['a sheet in a value', '<p title="<style>p{display:block!important}</style>" style="display:none">A</p>'],
    ['a sheet of another type', '<style type=a>p{display:block!important}</style><p style="display:none">A</p>'],
    ['a string with a brace', `<style>.x{content:"}";display:none}</style><p class=x>A</p>`],
    ['a string with a declaration', `<p style="display:none;content:';display:block;'">A</p>`],
    ['an address with one', '<p style="display:none;background:url(it\'s;display:block;)">A</p>'],
    ['brackets with one', '<p style="display:none;a:((b);display:block;)">A</p>'],
    ['a number that is a sign', '<p style="display:none;a:\\3b display:block">A</p>'],
    ['an attribute that colors nothing here', '<div style="color:#fff"><p color="#000">A</p></div>'],
    ['an attribute that has no color behind it here', '<div bgcolor="#000" style="color:#fff">A</div>'],
    ['an attribute that has no picture behind it here', '<div background="a" style="color:#fff">A</div>'],
    ['the color of text of the page', '<body text="#ffffff">A'],
    ['a color with a name on the same', '<table><td bgcolor=red><font color=red>A</table>'],
    ['one of another name on the same', '<p style="color:tomato;background:tomato">A</p>'],
    ['a color almost white', '<p style="color:whitesmoke">A</p>'],
    ['the color it has anyway', '<div style="color:#fff"><p style="color:currentcolor">A</p></div>'],
    ['letters filled with their color', '<p style="color:#fff;-webkit-text-fill-color:currentcolor">A</p>'],
    ['a background said anew', '<p style="color:#fff;background-color:#000;background:#fff">A</p>'],
    ['a background with words', '<p style="color:#000;background:#000 none">A</p>'],
    ['a picture that is none', '<p style="color:#fff;background-image:none">A</p>'],
    ['a dialog that is not open', '<dialog>A</dialog>'],
    ['what pops up', '<div popover>A</div>'],
    ['what is said in place of a film', '<video>A</video>'],
    ['a child only', '<style>.x>p{color:#000}</style><div class=x style="color:#fff"><i><p>A</p></i></div>'],
    ['a child of the page', '<style>html>p{color:#000}</style><div style="color:#fff"><p>A</p></div>'],
  ])('as browsers have it: %s', (_name, html) => {
    expect(read(html).seen).not.toContain('A');
  });

  test.each([
    ['bold words that have ended', '<b style="display:none"></b>A'],
    ['behind a cell with bold words', '<table><td><b style="display:none"></table>A'],
    ['behind a block in bold words', '<b style="display:none"><div></b>A</div>'],
    ['a child of the page', '<style>body{color:#fff}html>body{color:#000}</style>A'],
    [
      'children of children',
      '<style>.x>.y p{color:#000}</style><i class=x style="color:#fff"><i class=y><i class=y><p>A',
    ],
    ['an open dialog', '<dialog open>A</dialog>'],
    ['a picture behind it', '<p style="color:#fff;background:#fff url(a)">A</p>'],
    ['a color with a name', '<p style="color:#fff;color:navy">A</p>'],
    ['a value that is one', '<style>p{display:none}p{display:inline-block}</style><p>A</p>'],
    ['behind a paragraph', '<p style="display:none"><div>A</div>'],
    ['a comment that has ended', `${GONE}<!--></div>A`],
  ])('as browsers have it, and seen: %s', (_name, html) => {
    expect(read(html).seen).toBe('A');
  });

  test.each(['iframe', 'noembed', 'noframes', 'datalist'])('a screen shows no text in %s', (name) => {
    expect(read(`<${name}>A</${name}>B`)).toEqual({ seen: 'B', hidden: '' });
  });

  test.each([
    'color:#0008',
    'color:rgb(0 0 0 / 50%)',
    'color:hsl(0 0% 20%)',
    'opacity:50%',
    'filter:opacity(1)',
    'font:bold 700 12px/1.2 serif',
    'transform:translate(-50%,-50%)',
    'margin:0 0 1px 2px',
  ])('a screen shows what has %s', (css) => {
    expect(styled(`.x{${css}}`, '<p class=x>A</p>')).toEqual({ seen: 'A', hidden: '' });
  });

  test('wherever it stands', () => {
    expect(read('<p class=x>A</p>B<style type="text/css">.x{display:none}</style>')).toEqual({
      seen: 'B',
      hidden: 'A',
    });
  });

  test.each([
    ['a sheet that no mail needs', '.a{color:red}'.repeat(4000), '<p>A</p>'],
    ['more comparisons than a page of its length needs', '.x b,'.repeat(2000), `${'<p class=x><b>'.repeat(300)}A`],
    ['elements that nobody puts inside each other', '', `${'<div>'.repeat(1001)}${'</div>'.repeat(1001)}A`],
    ['too many attributes', '', `<p ${Array.from({ length: 60 }, (_, n) => `a${n}`).join(' ')}>A</p>`],
  ])('of %s: everything', (_name, css, body) => {
    expect(styled(`${css}p{color:red}`, body)).toEqual({ seen: '', hidden: 'A' });
  });

  test.each([
    ['a long style', '', `<p style="${'a:b;'.repeat(5_000)}display:none">A</p>`],
    ['a long class', '.x{display:none}', `<p class="${'y '.repeat(5_000)}x">A</p>`],
    [
      'many classes',
      '.x{display:none}',
      `<p class="${Array.from({ length: 60 }, (_, n) => `y${n}`).join(' ')} x">A</p>`,
    ],
    ['a long block', `.x{${'a:b;'.repeat(1_000)}display:none}`, '<p class=x>A</p>'],
    ['a long name', `.${'x'.repeat(200)}{display:none}`, `<p class=${'x'.repeat(200)}>A</p>`],
    ['a name in another script', '.\u044f{display:none}', '<p class=\u044f>A</p>'],
    ['a selector of many parts', `${'div '.repeat(20)}.x{display:none}`, `${'<div>'.repeat(20)}<p class=x>A</p>`],
    ['a sheet with a long tag', `</style><style title="${'a'.repeat(2_000)}">.x{display:none}`, '<p class=x>A</p>'],
    [
      'a sheet that only looks like one for paper',
      '</style><style title="media=print">.x{display:none}',
      '<p class=x>A</p>',
    ],
    ['elements inside each other', '.x{display:none}', `${'<div>'.repeat(500)}<p class=x>A</p>`],
  ])('behind %s', (_name, css, body) => {
    expect(styled(css, body)).toEqual({ seen: '', hidden: 'A' });
  });

  test.each([
    ['rows that are never closed', `<table>${'<tr><th>B<td class=x>B'.repeat(2_000)}</table>`],
    ['sheets with many rules for other places', '<div>'.repeat(50) + '<p class=x>B</p>'.repeat(2_000)],
  ])('nothing of %s', (_name, body) => {
    const css = Array.from({ length: 100 }, (_, n) => `.y${n} .x{display:none}`).join('');
    expect(styled(css, body).hidden).toBe('');
  });
});

describe('what it does not hide', () => {
  test.each([
    ['another class', '.x{display:none}', '<p class=xy>A</p>'],
    ['what stands beside', '.x .y{display:none}', '<p class=x></p><p class=y>A</p>'],
    ['the lighter rule', '.x{display:none}#y{display:block}', '<p class=x id=y>A</p>'],
    ['its own style', '.x{display:none}', '<p class=x style="display:block">A</p>'],
    ['a rule for paper', '@media print{.x{display:none}}', '<p class=x>A</p>'],
    ['a rule for telephones', '@media screen and (max-width:600px){.x{display:none}}', '<p class=x>A</p>'],
    ['a rule for the dark', '@media (prefers-color-scheme:dark){.x{display:none}}', '<p class=x>A</p>'],
    ['a state', 'a:hover,.x:hover{display:none}', '<p class=x>A</p>'],
    ['what is drawn beside it', '.x::before{display:none}', '<p class=x>A</p>'],
    ['white on black', 'td{background-color:#000}', '<table><td><font color=white>A</font></td></table>'],
    ['white on a picture', 'td{background:url(a.png)}', '<table><td style="color:#fff">A</td></table>'],
    ['white on what is not known', 'td{background:var(--a)}', '<table><td style="color:#fff">A</td></table>'],
    ['what has a color of its own', 'body{color:#fff}', '<body><p style="color:#333">A</p></body>'],
  ])('%s', (_name, css, body) => {
    expect(styled(css, body)).toEqual({ seen: 'A', hidden: '' });
  });

  test('a sheet for paper', () => {
    expect(read('<style media=print>.x{display:none}</style><p class=x>A</p>')).toEqual({ seen: 'A', hidden: '' });
  });
});
