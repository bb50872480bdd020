import react from '@vitejs/plugin-react';

export default {
  plugins: [react()],
  define: {
    __PUBLIC_KEY__: JSON.stringify(process.env.PUBLIC_KEY),
    __BASE_URL__: JSON.stringify(process.env.BROWSER_BASE_URL),
  },
};
