export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  telemetry: false,
  runtimeConfig: {
    // `NUXT_PUBLIC_TRACKER_KEY` and `NUXT_PUBLIC_TRACKER_URL` of the environment.
    public: { trackerKey: '', trackerUrl: '' },
  },
});
