import { defineEnvVars } from '@sveltejs/kit/env';

// Read when the app starts. All may be missing: `vite build` loads the app in a place without keys.
const schema = (value) => value;

export const variables = defineEnvVars({
  MESSAGING_API_KEY: { schema },
  MESSAGING_BASE_URL: { schema },
  PUBLIC_KEY: { schema, public: true },
  BROWSER_BASE_URL: { schema, public: true },
});
