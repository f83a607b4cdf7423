/** What a person sees who opens the box in a browser, until the portal is here. */
export function frontPage(version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mailstead</title>
<style>
:root { color-scheme: light dark; }
body { font: 1.05rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { font-weight: 650; letter-spacing: -0.02em; margin-bottom: 0.25rem; }
p.version { margin-top: 0; opacity: 0.65; }
a { color: LinkText; }
code { background: color-mix(in srgb, currentColor 10%, transparent); border-radius: 4px; padding: 0.1em 0.35em; }
</style>
</head>
<body>
<main>
<h1>Mailstead</h1>
<p class="version">Version ${version}</p>
<p>This is a mail server. It receives, stores, serves and sends mail for the domains that it hosts.</p>
<p>Mail programs reach it by IMAP and SMTP; whoever runs it uses <code>bin/mailstead --help</code> on the machine itself.</p>
<p>For monitoring: <a href="/healthz">health</a>, <a href="/readyz">readiness</a>, <a href="/metrics">metrics</a>.</p>
</main>
</body>
</html>
`;
}
