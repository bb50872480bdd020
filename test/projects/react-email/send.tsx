import { defineTemplate, MessagingClient } from 'postreel';
import { render } from 'react-email';
import { Welcome } from './welcome.js';

const messaging = new MessagingClient();
const from = 'shop@example.com';
const to = 'ann@example.com';

// A component is typed by its props.
await messaging.send({ from, to, subject: 'Welcome', body: await render(<Welcome name="Ann" />) });

// A template is typed by its own text: leaving out `name` does not compile.
const reminder = defineTemplate({
  subject: 'See you soon, {{name}}',
  body: '<p>You are on the {{plan ?? "free"}} plan.</p>',
});
await messaging.send({ from, to, ...reminder.message({ name: 'Ann' }) });
