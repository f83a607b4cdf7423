// Passes options of the page to the browser's passkeys, and their answer to the form. Web Authentication Level 2.
const form = document.querySelector('form[data-passkey]');
const note = document.getElementById('passkey-note');

const octets = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function decoded(options) {
  const decodedId = (one) => ({ ...one, id: octets(one.id) });
  return {
    ...options,
    challenge: octets(options.challenge),
    ...(options.user && { user: decodedId(options.user) }),
    ...(options.excludeCredentials && { excludeCredentials: options.excludeCredentials.map(decodedId) }),
  };
}

function encoded({ rawId, response }) {
  const common = { id: text(rawId), clientDataJSON: text(response.clientDataJSON) };
  if ('signature' in response) {
    const { authenticatorData, signature, userHandle } = response;
    return {
      ...common,
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      ...(userHandle && { userHandle: text(userHandle) }),
    };
  }
  return {
    ...common,
    authenticatorData: text(response.getAuthenticatorData()),
    publicKey: text(response.getPublicKey()),
  };
}

async function run() {
  const publicKey = decoded(JSON.parse(form.dataset.options));
  const kind = form.dataset.passkey;
  try {
    const credential = await navigator.credentials[kind]({ publicKey });
    form.elements.credential.value = JSON.stringify(encoded(credential));
    form.submit();
  } catch (error) {
    note.hidden = false;
    note.textContent = note.dataset.text.replace('{why}', () => error.name);
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void run();
});
if (form.dataset.passkey === 'get') void run();
